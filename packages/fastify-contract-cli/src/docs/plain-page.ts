import { createHash } from 'node:crypto'
import { htmlText } from '../text/foreign-text.ts'

const style = `
      :root {
        color-scheme: light dark;
        --accent: light-dark(#174fc4, #9bbcff);
        --quiet: light-dark(#5a5d66, #a9adb8);
        --line: light-dark(#e3e5ea, #3f424c);
        --card: light-dark(#fafafb, #2a2d36);
        color: light-dark(#1a1a1a, #f0f0f0);
        background: light-dark(#fff, #22242b);
        font: 16px/1.6 system-ui, sans-serif;
      }
      body { margin: 0; overflow-wrap: anywhere }
      nav {
        position: sticky; top: 0; z-index: 1; display: flex; gap: 20px; padding: 12px 16px;
        border-bottom: 1px solid var(--line); background: light-dark(#fff, #22242b); font: 14px/20px system-ui, sans-serif;
      }
      nav strong { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
      html { scroll-padding-top: 52px }
      a { color: var(--accent) }
      nav a:not(:hover) { text-decoration: none }
      main { max-width: 64rem; margin: 0 auto; padding: 1.5rem }
      h1 { margin: 0.5rem 0 1rem; font-size: 2rem; line-height: 1.2 }
      h2 { margin: 2rem 0 0.5rem; font-size: 1.3rem }
      h3 { margin: 1rem 0 0.25rem; font-size: 1rem }
      code, pre, textarea, input { font-family: ui-monospace, monospace; font-size: 0.875rem }
      code { padding: 0.1em 0.35em; border-radius: 4px; background: var(--card); border: 1px solid var(--line) }
      pre { margin: 0; padding: 0.75rem; white-space: pre-wrap; max-height: 30rem; overflow: auto }
      pre, details, section { border: 1px solid var(--line); border-radius: 8px; background: var(--card) }
      details, section { margin: 1rem 0; padding: 0.5rem 1.25rem 1.25rem }
      section h2 { margin-top: 0.5rem }
      summary h2 { display: inline; line-height: 2.5; cursor: pointer }
      small { color: var(--quiet); font-weight: 400 }
      label { display: block; margin: 0.75rem 0 0.25rem; font-weight: 600 }
      input, textarea, select {
        width: 100%; box-sizing: border-box; padding: 0.5rem; color: inherit;
        background: light-dark(#fff, #22242b); border: 1px solid light-dark(#8a8d96, #71747e); border-radius: 6px;
      }
      button {
        margin-top: 1rem; padding: 0.5rem 1.5rem; border: 0; border-radius: 6px;
        font: inherit; font-weight: 600; color: light-dark(#fff, #14141a); background: var(--accent); cursor: pointer;
      }
      output { font-weight: 600 }
      .framed { nav, h1, .intro { display: none } }
      .framed main:has(details:target) details:not(:target) { display: none }
      .framed main { padding: 0 1rem }
      @media (min-width: 56rem) {
        form[data-path] { display: grid; grid-template-columns: 1fr 1fr; gap: 0 2rem; align-items: start }
      }
    `

/** A script, and the URL of the service, which is the only one that it may send requests to. */
export type Caller = { script: string; serviceUrl: string }

/** Returns a page that loads nothing. `title` is text, `content` is HTML. */
export function plainPage(title: string, content: string, caller?: Caller): string {
  const { script = '', serviceUrl } = caller ?? {}
  const scripts = caller === undefined ? '' : ` script-src ${sourceOf(script)}; connect-src ${below(serviceUrl)};`
  const policy = `default-src 'none';${scripts} style-src ${sourceOf(style)}; img-src data:; base-uri 'none'; form-action 'none'`
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="referrer" content="no-referrer">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${htmlText(title)}</title>
    <link rel="icon" href="data:,">
    <style>${style}</style>
  </head>
  <body>
    <nav aria-label="Pages"><strong>${htmlText(title)}</strong><a href="index.html">Documentation</a></nav>
    <main${caller === undefined ? '' : ` data-service="${serviceUrl}"`}>
<h1>${htmlText(title)}</h1>
${content}
    </main>${caller === undefined ? '' : `\n    <script>${script}</script>`}
  </body>
</html>
`
}

/** Returns the source of all URLs below the URL of a service: a path without a slash at its end is only itself. */
const below = (url = ''): string => (/^\w+:\/\/[^/]+\/./.test(url) ? `${url}/` : url)

/** Returns the hash source of an inline script or style for a Content-Security-Policy. */
export const sourceOf = (script: string): string => `'sha256-${createHash('sha256').update(script).digest('base64')}'`
