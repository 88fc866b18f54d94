import { Readable } from 'node:stream'
import t from 'tap'
import { boundedStream } from '../../src/http/upload.ts'

t.test('a stream fails with the error of its check, of a chunk or at the end', async (t) => {
  const failure = new Error('too many bytes')
  for (const isAtEnd of [false, true]) {
    const source = Readable.from([Buffer.from('one'), Buffer.from('two')], { objectMode: false })
    const check = (length: number, isWhole: boolean) => (isWhole === isAtEnd && length === 6 ? failure : undefined)
    await t.rejects(boundedStream(source, { check }).toArray(), failure)
  }
})
