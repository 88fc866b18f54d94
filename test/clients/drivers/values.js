/** Returns a value of cases.json as a client in JavaScript gets it. An int64 becomes a bigint, or with `rounded` a number. */
export function plain(value, convert = {}) {
  if (Array.isArray(value)) return value.map((item) => plain(item, convert))
  if (typeof value !== 'object' || value === null) return value
  const [[tag, content] = []] = Object.entries(value)
  if (tag === '$int64') return (convert.int64 ?? Number)(content)
  if (tag === '$date') return (convert.date ?? String)(content)
  if (tag === '$dateTime') return (convert.dateTime ?? String)(content)
  if (tag === '$bytes') return (convert.bytes ?? String)(content)
  if (tag === '$file') return (convert.file ?? fileOf)(content)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member, convert)]))
}

const fileOf = ({ name, type, text }) => new File([text], name, { type })

/** Returns what a client returned in a form that JSON carries. */
export async function printable(value) {
  if (typeof value === 'bigint') return { $int64: String(value) }
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Blob) return { $bytes: Buffer.from(await value.arrayBuffer()).toString('base64') }
  if (value instanceof ArrayBuffer) return { $bytes: Buffer.from(value).toString('base64') }
  if (ArrayBuffer.isView(value))
    return { $bytes: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') }
  if (
    value instanceof ReadableStream ||
    (typeof value === 'object' && value !== null && Symbol.asyncIterator in value)
  ) {
    const items = []
    for await (const item of value) items.push(item)
    if (items.length > 0 && items.every((item) => item instanceof Uint8Array)) return printable(Buffer.concat(items))
    return printable(items)
  }
  if (Array.isArray(value)) return Promise.all(value.map(printable))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(async ([name, member]) => [name, await printable(member)])
  return Object.fromEntries(await Promise.all(members))
}
