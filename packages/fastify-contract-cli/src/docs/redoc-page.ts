import { htmlText } from '../text/foreign-text.ts'
import { sampleLanguages } from './code-samples.ts'
import { sourceOf } from './plain-page.ts'

const style = `
      body { margin: 0 }
      /* Replaces colors of Redoc whose contrast is below the 4.5 to 1 of WCAG 2.2. */
      :root:root {
        --search-trigger-color: var(--text-color-secondary);
        --input-content-placeholder-color: var(--text-color-secondary);
        --text-color-disabled: var(--text-color-secondary);
        --badge-deprecated-text-color: #1a1a1a;
        --link-color-primary: var(--color-blue-8);
        --code-block-tokens-string-color: var(--color-blue-8);
        --code-block-tokens-property-string-color: var(--color-blue-8);
        --code-block-tokens-keyword-color: var(--color-magenta-8);
        --code-block-tokens-boolean-color: var(--color-grass-8);
        --search-highlight-text-color: var(--color-blue-8);
        --h1-font-size: 30px;
        --h1-line-height: 38px;
        --h2-font-size: 22px;
        --h2-line-height: 30px;
        --h3-font-size: 18px;
        --h3-line-height: 26px;
        --bar-height: 45px;
      }
      :root:not(.dark) {
        --color-carrot-7: #934c1a;
        .tag-get { --tag-color: #12713d }
        .tag-post { --tag-color: #174fc4 }
        .tag-put { --tag-color: #8f4d00 }
        .tag-patch { --tag-color: #735900 }
        .tag-delete { --tag-color: #b80537 }
        .tag-head { --tag-color: #5142b3 }
      }
      :root:root.dark .tag-head { --tag-color: #c3bbf7 }
      /* Redoc leaves this height free above what it keeps in view. */
      body, #redoc * { --navbar-stack-height: var(--bar-height) }
      .pages {
        position: sticky; top: 0; z-index: 90; box-sizing: border-box; height: var(--bar-height);
        display: flex; align-items: center; gap: 20px; padding: 0 16px; white-space: nowrap;
        border-bottom: 1px solid var(--border-color-secondary); background: var(--bg-color);
        color: var(--text-color-primary); font: 14px/20px var(--font-family-base);
      }
      .pages strong { flex: 1; overflow: hidden; text-overflow: ellipsis }
      .pages a { color: var(--link-color-primary); text-decoration: none }
      .pages a:hover, .pages a[aria-current] { text-decoration: underline; text-underline-offset: 4px }
      @media (max-width: 672px) {
        .pages { gap: 12px; padding-right: 60px }
        .pages a:is([aria-current], [href="openapi.json"]) { display: none }
        /* The button that opens the menu would cover text. */
        :root:root [data-testid=floating-button] {
          inset: 4px 12px auto auto; width: 36px; height: 36px; border-radius: 8px; box-shadow: none;
        }
      }
      /* Redoc leaves 100 pixels between a tag and its operations. */
      #api-content > div > [data-section-id] { padding-top: 40px; padding-bottom: 0 }
      /* The texts of the document take both columns where the right one is empty. */
      @media (min-width: 1280px) {
        [data-component-name="Layout/ThreePanelLayout"] div:has(> [data-testid=middle-panel] > [data-section-id="/"]) {
          display: grid; grid-template-columns: calc(100% - var(--panel-samples-width)) var(--panel-samples-width);
          > [data-testid=middle-panel] { display: contents }
          > [data-testid=middle-panel] > * { grid-column: 1 / -1; margin: 0 calc(var(--panel-gap-horizontal) * 2) }
          > [data-testid=middle-panel] > [data-section-id="/"] { grid-column: 1; margin-right: var(--panel-gap-horizontal) }
          > [data-testid=right-panel] { grid-area: 1 / 2; align-self: start; width: 100%; box-sizing: border-box }
        }
      }
      /* The button to copy would cover the end of the first line. */
      :root:root .panel-request-samples pre { margin-right: 40px }
      [data-testid=page-actions]:has(.try) { display: flex; align-items: center }
      .try {
        margin-right: 8px; padding: 6px 16px; border-radius: 8px; font: 600 14px/20px var(--font-family-base);
        color: #fff; background: #174fc4; text-decoration: none;
      }
      :root:root [data-component-name="Markdown/Markdown"] pre {
        padding: 12px 16px; border: 1px solid var(--border-color-secondary); border-radius: 8px;
        font-size: 13px; white-space: pre; overflow-x: auto;
      }
      .try-panel {
        position: fixed; inset: 0 0 0 auto; z-index: 900; width: min(36rem, 100%); display: flex; flex-direction: column;
        background: var(--bg-color); border-left: 1px solid var(--border-color-primary); box-shadow: 0 0 24px #0004;
      }
      .try-panel[hidden] { display: none }
      .try-panel iframe { flex: 1; border: 0 }
      .try-panel button {
        align-self: flex-end; margin: 8px 16px; padding: 4px 12px; border: 1px solid var(--border-color-primary);
        border-radius: 8px; font: 14px/20px var(--font-family-base); color: inherit; background: none; cursor: pointer;
      }
      a[href="https://redocly.com/redoc/"] p::after { content: " Redocly" }
      a[href="https://redocly.com/redoc/"] img { display: none }
    `

/** What a page of Redoc is made of. */
export type RedocPage = {
  title: string
  /** The JSON of the document that it shows. */
  document: string
  /** The script of Redoc, an ES module that exports `hydrate`. */
  redoc: string
  /** A script that runs before that of Redoc. */
  ownScript: string
}

/**
 * Returns a page of Redoc that requests nothing. It has nothing prerendered, runs our own script before Redoc's, and has
 * the hashes of both in its Content-Security-Policy. Markup from the document must never determine a hash, so the page
 * contains the document only as JSON without "<". The linter rejects what a policy cannot block, such as
 * <meta http-equiv="refresh">.
 *
 * @throws {Error} If Redoc's script differs from that of the version for which the replacements are made.
 */
export function redocPage({ title, document, redoc, ownScript }: RedocPage): string {
  const script = `${changedRedoc(redoc)}
      const __redoc_definition = ${inScript(document)};
      const __redoc_options = ${inScript(JSON.stringify(options))};
      hydrate(changeDocument(__redoc_definition), __redoc_options, document.getElementById('redoc'));
      `
  const shown = htmlText(title)
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <!-- styled-components creates styles at run time, so their hashes are unknown. A style can only load data: URLs. -->
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${sourceOf(ownScript)} ${sourceOf(script)}; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-src 'none'; object-src 'none'; worker-src 'none'; base-uri 'none'; form-action 'none'">
    <meta name="referrer" content="no-referrer">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${shown}</title>
    <link rel="icon" href="data:,">
    <style>${style}</style>
  </head>
  <body>
    <nav class="pages" aria-label="Pages"><strong>${shown}</strong><a href="index.html" aria-current="page">Documentation</a><a href="history.html">History</a><a href="openapi.json">OpenAPI</a><!-- try.html --></nav>
    <script>${ownScript}</script><div id="redoc"></div><script type="module">${script}</script>
    <noscript>This page needs JavaScript. The document that it shows is openapi.json.</noscript>
  </body>
</html>
`
}

/** The options of Redoc. */
const options = {
  codeSamples: { languages: sampleLanguages },
  // Without this tag Redoc shows schemas only inside the operations that use them.
  schemaDefinitionsTagName: 'Schemas',
  skipBundle: true,
  disableTelemetry: true,
}

/**
 * Replacements in the script of Redoc 3.0.1, which @redocly/cli 2.77 contains. They remove the URLs that it would load, and expand the groups of operations
 * and schemas, which it otherwise shows only after a click.
 */
const replacements: [from: RegExp, to: string][] = [
  [/https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(-full)?\.svg/g, 'data:,'],
  [/(?<=return)\[(\w),\w+\(\1\)\]\.some\((\w)=>(\w)===\2\|\|\3\.endsWith\(\2\)\|\|\3\.includes\(\2\+`\/`\)\)/, '!0'],
  [/(?<=\.content===null)\|\|\w&&!\w+\(\w\.gatePath,\w\)/, ''],
  [/(?<=shouldRenderOps:)\w\.sectionId===[^}]*/, '!0'],
]

function changedRedoc(redoc: string): string {
  if (!/export\{[^}]*\bhydrate\b/.test(redoc) || !replacements.every(([from]) => redoc.match(from))) {
    throw new Error("@redocly/cli: Redoc's script differs from that of version 2.77; adapt redocPage to it")
  }
  const changed = replacements.reduce((text, [from, to]) => text.replace(from, to), redoc)
  return changed.replace(/<\/(?=script)/gi, '<\\/')
}

/** Returns JSON as an expression of a script, which ends neither the script nor, in old engines, a line of it. */
const inScript = (json: string): string => json.replace(/[<\u2028\u2029]/g, escapedCharacter)

const escapedCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
