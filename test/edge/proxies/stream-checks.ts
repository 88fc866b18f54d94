import { items, type MatrixInstance } from './matrix-service.ts'
import { exchange, get, responseIn } from './raw-exchange.ts'

/** What a check of the matrix uses: the port of the proxy, and the two instances behind it. */
export type Target = { port: number; instances: [MatrixInstance, MatrixInstance] }

/** Finds the verdict on one behavior of a proxy. */
export type Check = (target: Target) => Promise<string>

/** Milliseconds by which an item of a stream may be late on a busy machine. */
const slack = 120

/** Tells when the items of a stream arrive. */
const itemsOf =
  (path: string, pattern: RegExp): Check =>
  async ({ port, instances }) => {
    for (const { given } of instances) given.length = 0
    const { parts, text } = await exchange(port, get(path))
    const response = responseIn(text)
    if (response?.status !== 200) return `${response?.status ?? 'no response'}`
    if (!response.isWhole) return 'looks broken at its end'
    const given = instances.map((one) => one.given).find(({ length }) => length === items) as number[]
    const late = given.map((at, index) => arrivalOf(parts, pattern, index) - at).sort((a, b) => a - b)
    if (arrivalOf(parts, pattern, 0) > (given.at(-1) as number)) return 'all items at the end'
    return (late[late.length >> 1] as number) < slack ? 'each item at once' : 'each item 200 ms late'
  }

/** Returns when the item of an index has arrived. */
function arrivalOf(parts: { at: number; text: string }[], pattern: RegExp, index: number): number {
  let text = ''
  for (const part of parts) {
    text += part.text
    if ((text.match(pattern)?.length ?? 0) > index) return part.at
  }
  return Number.POSITIVE_INFINITY
}

/** Tells what a client sees of a stream that ends before its last item. */
const endOf =
  (path: string): Check =>
  async ({ port }) => {
    const { text, end } = await exchange(port, get(path))
    const response = responseIn(text)
    if (response === undefined) return 'broken, without a head'
    if (response.status !== 200) return `${response.status}`
    const isEndedByClose = !('transfer-encoding' in response.headers) && !('content-length' in response.headers)
    const looksWhole = response.isWhole || (isEndedByClose && end === 'closed')
    return looksWhole ? 'looks complete' : 'looks broken'
  }

export const streamChecks: Record<string, Check> = {
  'JSON Lines': itemsOf('/lines', /^\d{6}$/gm),
  'server-sent events': itemsOf('/events', /^data: \d{6}$/gm),
  'a stream that fails': endOf('/broken'),
  'a stream whose instance is killed': endOf('/killed'),
}
