const dateTime = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

/**
 * Takes a date and time of RFC 3339 section 5.6, with T and Z in upper case; gives its milliseconds since 1970, undefined
 * for any other text, a day that no calendar has, or a leap second.
 */
export function parseDateTime(text: string): number | undefined {
  const [, local = ''] = dateTime.exec(text) ?? []
  const time = local === '' ? Number.NaN : Date.parse(text)
  if (Number.isNaN(time)) return undefined
  // Date itself takes 30 February for 2 March.
  return new Date(`${local}Z`).toISOString().startsWith(local) ? time : undefined
}
