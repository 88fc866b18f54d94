import { createHash } from 'node:crypto'

const style = `
      :root {
        color-scheme: light dark;
        color: light-dark(#1a1a1a, #f0f0f0);
        background: light-dark(#fff, #1b1b1f);
        font: 16px/1.5 system-ui, sans-serif;
      }
      a { color: light-dark(#174fc4, #9bbcff) }
      body { max-width: 50rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere }
      code, pre, textarea, input { font-family: ui-monospace, monospace; font-size: 0.9em }
      pre { white-space: pre-wrap; max-height: 30rem; overflow: auto }
      h2 { font-size: 1.2rem }
      summary h2 { display: inline; line-height: 2.5 }
      small { font-weight: 400 }
      label { display: block; margin-top: 0.75rem; font-weight: 600 }
      input, textarea, select { display: block; width: 100%; box-sizing: border-box; padding: 0.4rem }
      button { margin-top: 1rem; padding: 0.5rem 1rem }
    `

/** A script, and the URL of the service, which is the only one that it may send requests to. */
export type Caller = { script: string; serviceUrl: string }

/** Returns a page that loads nothing. `title` is text, `content` is HTML. */
export function plainPage(title: string, content: string, caller?: Caller): string {
  const { script = '', serviceUrl } = caller ?? {}
  const scripts = caller === undefined ? '' : ` script-src ${sourceOf(script)}; connect-src ${serviceUrl};`
  const policy = `default-src 'none';${scripts} style-src ${sourceOf(style)}; img-src data:; base-uri 'none'; form-action 'none'`
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="referrer" content="no-referrer">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapeHtml(title)}</title>
    <link rel="icon" href="data:,">
    <style>${style}</style>
  </head>
  <body>
    <main${caller === undefined ? '' : ` data-service="${serviceUrl}"`}>
<h1>${escapeHtml(title)}</h1>
${content}
    </main>${caller === undefined ? '' : `\n    <script>${script}</script>`}
  </body>
</html>
`
}

/** Returns the hash source of an inline script or style for a Content-Security-Policy. */
export const sourceOf = (script: string): string => `'sha256-${createHash('sha256').update(script).digest('base64')}'`

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Returns a text escaped for HTML, also for attribute values. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] as string)
