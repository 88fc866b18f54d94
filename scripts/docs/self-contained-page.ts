import { createHash } from 'node:crypto'
import { sampleLanguages } from './code-samples.ts'

/** What is replaced in the script of Redoc 3.0.1: all that it would load, and the options that build-docs cannot pass. */
const replacements: [from: RegExp, to: string][] = [
  [/https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(-full)?\.svg/g, 'data:,'],
  [/(?<=^ *const __redoc_options = \{)/gm, `"codeSamples":${JSON.stringify({ languages: sampleLanguages })},`],
]

/**
 * Returns a page of Redoc that requests nothing, without its prerendered part, with a script of our own before Redoc's,
 * and with the hashes of both in its policy. No hash must be one that a description chose: Redoc writes raw HTML of the
 * document into the prerendered part, and the document into the script as JSON without "<". Redoc's option `sanitize`
 * would be no help: build-docs 2.77 cannot prerender with it. What a policy cannot refuse, <meta http-equiv="refresh">
 * for one, the linter does.
 */
export function selfContainedPage(built: string, ownScript: string): string {
  const [head = '', ...prerendered] = built.split('<div id="redoc">')
  const tag = '<script type="module">'
  const rest = prerendered.join('').split(tag).at(-1) as string
  const end = rest.indexOf('</script>')
  let script = rest.slice(0, end)
  const isKnown = built.includes(tag) && end >= 0 && !head.includes('<script')
  if (prerendered.length === 0 || !isKnown || !replacements.every(([from]) => script.match(from))) {
    throw new Error('redocly build-docs: the page differs from that of version 2.77; see selfContainedPage')
  }
  for (const [from, to] of replacements) script = script.replace(from, to)
  const policy = `${sourceOf(ownScript)} ${sourceOf(script)}`
  return `${head.replace('SCRIPT_HASHES', policy)}<script>${ownScript}</script><div id="redoc"></div>${tag}${script}${rest.slice(end)}`
}

/** Returns a script as a source of a Content-Security-Policy. */
export const sourceOf = (script: string): string => `'sha256-${createHash('sha256').update(script).digest('base64')}'`
