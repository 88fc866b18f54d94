import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { createAdminServer } from '../../packages/fastify-contract/src/service/admin-server.ts'
import { contract } from './contract.ts'

/** Serves a docs page from the admin server until the test ends; returns its URL. "Try it" calls `serviceUrl`. */
export async function serveDocs(t: Test, page: string, serviceUrl?: string): Promise<string> {
  const management = createAdminServer({
    apis: [{ prefix: '', added: '', contract, docs: page }],
    metrics: async () => '',
    unreadyReason: () => undefined,
    onReady() {},
    serviceUrl: () => serviceUrl,
  })
  await once(management.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    management.close()
    management.closeAllConnections()
  })
  return `http://127.0.0.1:${(management.address() as AddressInfo).port}/docs`
}
