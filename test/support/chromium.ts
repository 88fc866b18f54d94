import { existsSync } from 'node:fs'

const names = ['chromium', 'chromium-browser', 'google-chrome']

/** The path of the browser for the tests: that of CHROMIUM, else one where Linux distributions install it, if any. */
export const chromium = [process.env.CHROMIUM, ...names.map((name) => `/usr/bin/${name}`)].find(
  (path): path is string => path !== undefined && existsSync(path),
) as string

/** The reason to skip tests that need the browser; false when there is one. */
export const browserSkipReason: string | false =
  chromium === undefined ? `NOT RUN: found none of ${names.join(', ')}; set CHROMIUM to the path of a browser` : false
