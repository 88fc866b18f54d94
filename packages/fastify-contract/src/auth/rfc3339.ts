const dateTime = /^(\d{4}-\d\d-(\d\d)T(?:[01]\d|2[0-3]):\d\d:\d\d)(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

/**
 * Parses a date and time of RFC 3339 section 5.6, with T and Z in upper case. Returns milliseconds since 1970, or
 * undefined for any other text, a day that does not exist, or a leap second.
 */
export function parseDateTime(text: string): number | undefined {
  const [, local = '', day = ''] = dateTime.exec(text) ?? []
  const time = local === '' ? Number.NaN : Date.parse(text)
  if (Number.isNaN(time)) return undefined
  // Date.parse reads 30 February as 2 March. Days up to 28 skip the second, slower check: a token file has up to two
  // dates for each entry.
  if (day <= '28') return time
  return new Date(`${local}Z`).toISOString().startsWith(local) ? time : undefined
}
