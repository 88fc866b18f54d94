import type { Call } from '../served-documents.ts'
import type { components, webhooks } from './api.d.ts'
import type { Handlers } from './handler-types.d.ts'

type Sent<Name extends keyof webhooks> = webhooks[Name]['post']['requestBody']

/** The bodies that webhooks and callbacks send have types, too. */
const event: components['requestBodies']['Event']['content']['application/json'] &
  Sent<'started'>['content']['application/json'] &
  Sent<'stopped'>['content']['application/json'] &
  Sent<'subscribe changed'>['content']['application/json'] &
  Sent<'subscribe ended'>['content']['application/json'] = { id: 1n }

export const handlers: Handlers = {
  async subscribe({ body }) {
    if (body.url === String(event.id)) throw new Error('a number is no URL')
    return { status: 204, body: undefined }
  },
}

export const calls: Call[] = [
  { request: 'POST /subscriptions', send: { url: 'https://example.com' }, status: 204 },
  { request: 'POST /subscriptions', send: { url: 'nowhere' }, status: 400, error: 40003 },
  { request: 'POST /started', send: { id: 1 }, status: 404, error: 40400 },
  { request: 'POST /stopped', send: { id: 1 }, status: 404, error: 40400 },
]
