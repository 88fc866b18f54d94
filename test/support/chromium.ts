import { existsSync } from 'node:fs'

const names = ['chromium', 'chromium-browser', 'google-chrome']

/** The path of the browser of the tests; CHROMIUM names another than those of Linux distributions. */
export const chromium = [process.env.CHROMIUM, ...names.map((name) => `/usr/bin/${name}`)].find(
  (path): path is string => path !== undefined && existsSync(path),
) as string

/** Why tests that need the browser are skipped, false when it is there. */
export const browserSkipReason: string | false =
  chromium === undefined ? `NOT RUN: there is none of ${names.join(', ')}; CHROMIUM names another browser` : false
