import { createHash } from 'node:crypto'
import { sampleLanguages } from './code-samples.ts'

/** Replacements in the script of Redoc 3.0.1: they remove the URLs that it would load and add options. */
const replacements: [from: RegExp, to: string][] = [
  [/https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(-full)?\.svg/g, 'data:,'],
  [/(?<=^ *const __redoc_options = \{)/gm, `"codeSamples":${JSON.stringify({ languages: sampleLanguages })},`],
]

/**
 * Returns a page of Redoc that requests nothing. It has no prerendered part, runs our own script before Redoc's, and
 * has the hashes of both in its Content-Security-Policy. The prerendered part is removed because it contains raw HTML
 * from the document, which must never determine a hash; the script contains the document only as JSON without "<".
 * Redoc's option `sanitize` does not help: build-docs 2.77 cannot prerender with it. The linter rejects what a policy
 * cannot block, such as <meta http-equiv="refresh">.
 */
export function selfContainedPage(built: string, ownScript: string): string {
  const [head = '', ...prerendered] = built.split('<div id="redoc">')
  const tag = '<script type="module">'
  const rest = prerendered.join('').split(tag).at(-1) as string
  const end = rest.indexOf('</script>')
  let script = rest.slice(0, end)
  const isKnown = built.includes(tag) && end >= 0 && !head.includes('<script')
  if (prerendered.length === 0 || !isKnown || !replacements.every(([from]) => script.match(from))) {
    throw new Error('redocly build-docs: the page differs from that of version 2.77; adapt selfContainedPage to it')
  }
  for (const [from, to] of replacements) script = script.replace(from, to)
  const policy = `${sourceOf(ownScript)} ${sourceOf(script)}`
  return `${head.replace('SCRIPT_HASHES', policy)}<script>${ownScript}</script><div id="redoc"></div>${tag}${script}${rest.slice(end)}`
}

/** Returns the hash source of an inline script or style for a Content-Security-Policy. */
export const sourceOf = (script: string): string => `'sha256-${createHash('sha256').update(script).digest('base64')}'`
