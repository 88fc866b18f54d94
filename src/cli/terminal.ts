import type { Readable, Writable } from 'node:stream'

/** The streams of a command, and the signal that interrupts it. */
export type Terminal = { stdin: Readable; stdout: Writable; stderr: Screen; interrupt: AbortSignal }

/** A terminal, or any other stream. */
export type Screen = Writable & { isTTY?: boolean; columns?: number }

/** Writes a text. Resolves once the stream has written it, and rejects when the write fails. */
export const writeText = (stream: Writable, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()))
  })

export type ProgressBar = {
  /** Shows the number of plants done, and the fraction of all plants (0 to 1) when it is known. */
  update(plants: number, fraction?: number): void
  /** Removes the bar. */
  end(): void
}

/** Milliseconds between two updates: writing to a terminal takes longer than reading a page of plants. */
const interval = 100
const width = 24
const erase = '\r\x1b[K'

/** Returns a progress bar on a terminal. On any other stream it shows nothing. */
export function progressBar(screen: Screen, now: () => number = () => performance.now()): ProgressBar {
  if (screen.isTTY !== true) return { update() {}, end() {} }
  const started = now()
  let drawn = Number.NEGATIVE_INFINITY
  return {
    update(plants, fraction) {
      const time = now()
      if (time - drawn < interval) return
      drawn = time
      const text = barText(plants, fraction, (time - started) / 1_000)
      screen.write(erase + text.slice(0, (screen.columns ?? 80) - 1))
    },
    end() {
      if (drawn > started) screen.write(erase)
    },
  }
}

function barText(plants: number, fraction: number | undefined, seconds: number): string {
  const rate = `${grouped(plants)} plants, ${grouped(seconds > 0 ? plants / seconds : 0)}/s`
  if (fraction === undefined) return rate
  const full = Math.min(width, Math.floor(fraction * width))
  const left = fraction > 0 ? `, ${Math.ceil((seconds * (1 - fraction)) / fraction)} s left` : ''
  return `[${'#'.repeat(full).padEnd(width)}] ${Math.floor(fraction * 100)} %, ${rate}${left}`
}

const grouped = (number: number): string => Math.round(number).toLocaleString('en')
