import { parseDateTime } from '../auth/rfc3339.ts'
import { UsageError } from './cli-options.ts'

const units: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses a duration such as 90d, 24h, 30m or 0s. Returns milliseconds. Throws a UsageError that names the option. */
export function parseDuration(text: string, option: string): number {
  const milliseconds = durationOf(text)
  if (milliseconds === undefined)
    throw new UsageError(`${option} is ${JSON.stringify(text)}, allowed: a duration such as 24h or 7d`)
  return milliseconds
}

/**
 * Parses the value of --expires: a duration from now, a date (its start in UTC), or a date and time of RFC 3339.
 * Returns milliseconds since 1970. Throws a UsageError for anything else and for a time in the past.
 */
export function parseExpiry(text: string, now: number): number {
  const duration = durationOf(text)
  const time = duration === undefined ? (parseDateTime(`${text}T00:00:00Z`) ?? parseDateTime(text)) : now + duration
  if (time !== undefined && time > now) return time
  throw new UsageError(
    `--expires is ${JSON.stringify(text)}, allowed: a future time, such as 90d, 2030-01-31 or 2030-01-31T12:00:00Z`,
  )
}

function durationOf(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,4})([smhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (units[unit] as number)
}
