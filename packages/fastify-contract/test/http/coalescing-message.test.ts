import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { openSocket } from '../../../../test/support/open-socket.ts'
import { CoalescingMessage } from '../../src/http/read-body.ts'

/** Sends a request with the chunks in one write. Returns the request when its header section has arrived. */
async function sending(t: Test, chunks: string[]): Promise<IncomingMessage> {
  const server = createServer({ IncomingMessage: CoalescingMessage })
  t.teardown(() => server.close().closeAllConnections())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const arrived = once(server, 'request') as Promise<[IncomingMessage]>
  const body = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  await openSocket(t, (server.address() as AddressInfo).port, `${head}${body}0\r\n\r\n`)
  const [request] = await arrived
  return request
}

/** Reads a request's body and returns the lengths of its parts and their joined text. */
async function partsOf(request: IncomingMessage) {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return { lengths: parts.map(({ length }) => length), text: Buffer.concat(parts).toString() }
}

t.test('small chunks after the first are joined in order', async (t) => {
  const chunks = Array.from({ length: 5_000 }, (_, n) => String(n))
  const { lengths, text } = await partsOf(await sending(t, chunks))
  t.ok(text === chunks.join(''))
  t.equal(lengths[0], 1)
  t.ok(lengths.length < 5, `${lengths.length} parts`)
})

t.test('a large chunk keeps its position', async (t) => {
  const [large, other] = ['a', 'b'].map((character) => character.repeat(2_000)) as [string, string]
  const { text } = await partsOf(await sending(t, ['1', '2', '3', large, '4', other, '5']))
  t.equal(text, `123${large}4${other}5`)
})
