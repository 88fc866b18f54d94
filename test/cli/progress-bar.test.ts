import { Writable } from 'node:stream'
import t from 'tap'
import { progressBar } from '../../src/cli/terminal.ts'

function screen(properties: { isTTY?: boolean; columns?: number }) {
  const written: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk))
      done()
    },
  })
  return { written, stream: Object.assign(stream, properties) }
}

t.test('a bar shows count, rate and remaining time, at most ten times a second', async (t) => {
  const { written, stream } = screen({ isTTY: true })
  let time = 1_000
  const bar = progressBar(stream, () => time)
  time += 4_000
  bar.update(10_000, 0.25)
  time += 99
  bar.update(10_500, 0.26)
  time += 3_901
  bar.update(20_000)
  bar.end()
  t.same(written, [
    '\r\x1b[K[######                  ] 25 %, 10,000 plants, 2,500/s, 12 s left',
    '\r\x1b[K20,000 plants, 2,500/s',
    '\r\x1b[K',
  ])
})

t.test('a bar is cut to the width of the terminal', async (t) => {
  const { written, stream } = screen({ isTTY: true, columns: 30 })
  const bar = progressBar(stream, () => 0)
  bar.update(0, 0)
  t.same(written, ['\r\x1b[K[                        ] 0 '])
})

t.test('nothing is shown without a terminal or without an update', async (t) => {
  const file = screen({})
  const bar = progressBar(file.stream)
  bar.update(1)
  bar.end()
  const terminal = screen({ isTTY: true })
  progressBar(terminal.stream).end()
  t.same([...file.written, ...terminal.written], [])
})
