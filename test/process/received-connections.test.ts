import { createServer } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import { receiveConnections } from '../../src/process/received-connections.ts'

t.test('a connection over the limit is closed and reported until another one closes', async (t) => {
  const server = createServer()
  const seen: string[] = []
  server.removeAllListeners('connection')
  for (const event of ['connection', 'drop']) server.on(event, () => seen.push(event))
  const receive = receiveConnections(server, 1)
  const [first, second, third] = [new Socket(), new Socket(), new Socket()]
  receive(first)
  receive(second)
  t.same(seen, ['connection', 'drop'])
  t.same([first.destroyed, second.destroyed], [false, true])
  first.emit('close')
  receive(third)
  t.same(seen, ['connection', 'drop', 'connection'])
  server.close()
})
