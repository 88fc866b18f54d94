/** A date in the form of HTTP, as `httpDate` returns it. */
export type HttpDate = `${string} GMT`

const days = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const longDays = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)'
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const month = `(?<month>${months.join('|')})`
const time = String.raw`(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d):(?<second>[0-5]\d|60)`

/** The three forms of HTTP-date (RFC 9110 section 5.6.7); recipients must accept the two obsolete ones. */
const forms = [
  new RegExp(String.raw`^${days}, (?<day>\d\d) ${month} (?<year>\d{4}) ${time} GMT$`),
  new RegExp(String.raw`^${longDays}, (?<day>\d\d)-${month}-(?<year>\d\d) ${time} GMT$`),
  new RegExp(String.raw`^${days} ${month} (?<day>[ \d]\d) ${time} (?<year>\d{4})$`),
]

type Parts = Record<'day' | 'month' | 'year' | 'hour' | 'minute' | 'second', string>

/**
 * Returns the time of an HTTP-date in milliseconds; undefined if it is invalid. `now` decides the century of a year with
 * two digits.
 */
export function parseHttpDate(text: string, now = new Date()): number | undefined {
  for (const form of forms) {
    const parts = form.exec(text)?.groups as Parts | undefined
    if (parts !== undefined) return timeOf(parts, now)
  }
  return undefined
}

function timeOf({ day, month, year, hour, minute, second }: Parts, now: Date): number | undefined {
  const date = new Date(0)
  date.setUTCFullYear(fullYear(year, now), months.indexOf(month), Number(day))
  // A day beyond the end of its month becomes one of the next month.
  if (date.getUTCDate() !== Number(day)) return undefined
  return date.setUTCHours(Number(hour), Number(minute), Number(second))
}

/** Returns a year of four digits. One of two digits is at most 50 years in the future (RFC 9110 section 5.6.7). */
function fullYear(year: string, now: Date): number {
  if (year.length === 4) return Number(year)
  const current = now.getUTCFullYear()
  const inCentury = current - (current % 100) + Number(year)
  return inCentury > current + 50 ? inCentury - 100 : inCentury
}

/** Returns a time as an HTTP-date (RFC 9110 section 5.6.7), in whole seconds. Throws a RangeError for another year than 0 to 9999. */
export function httpDate(date: Date): HttpDate {
  const year = date.getUTCFullYear()
  if (!(year >= 0 && year <= 9999)) throw new RangeError('an HTTP-date must have a year from 0 to 9999')
  return date.toUTCString() as HttpDate
}
