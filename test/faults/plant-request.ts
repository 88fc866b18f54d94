import { type Agent, type IncomingMessage, request } from 'node:http'
import type { StoredPlant } from '../../src/store/plant-store.ts'
import { token } from '../scenarios/built-service.ts'
import type { Outcome } from './outcomes.ts'

export type PlantResponse = Pick<Outcome, 'status' | 'flaw'>

export type RequestOptions = {
  port: number
  agent: Agent
  /** Client timeout (ms); the status is then ETIMEDOUT. */
  timeout: number
}

/** Sends a write; resolves with the status and flaw of the response, or with the error code of the connection. */
export function requestPlant(plant: StoredPlant, options: RequestOptions): Promise<PlantResponse> {
  return new Promise((resolve) => {
    const failed = (error: Error & { code?: string }) =>
      resolve({ status: error.code ?? error.message, flaw: undefined })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = request({ ...options, host: '127.0.0.1', path: '/plants', method: 'POST', headers }, (answer) => {
      const chunks: Buffer[] = []
      answer
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('error', failed)
        .on('end', () => {
          const body = Buffer.concat(chunks).toString()
          resolve({ status: answer.statusCode as number, flaw: flawOf(answer, body, plant) })
        })
    })
    sent.on('timeout', () => sent.destroy(Object.assign(new Error('no response'), { code: 'ETIMEDOUT' })))
    sent.on('error', failed).end(bodyOf(plant))
  })
}

/** Writes the id by hand, because JSON.stringify throws on a bigint. */
const bodyOf = ({ id, ...rest }: StoredPlant): string => `{"id":${id},${JSON.stringify(rest).slice(1)}`

function flawOf({ statusCode, headers }: IncomingMessage, body: string, plant: StoredPlant): string | undefined {
  if (statusCode === 200) {
    const { id: _, ...rest } = plant
    return body === JSON.stringify(rest) ? undefined : '200 with another plant'
  }
  if (statusCode === 503 && !/^\d+$/.test(headers['retry-after'] ?? '')) return '503 without Retry-After'
  return /^\{"error":\d{5},"message":".*"\}$/s.test(body) ? undefined : `${statusCode} without an Error body`
}
