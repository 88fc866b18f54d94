import { join } from 'node:path'

/** The directory of the modules that run in a page. */
const pageScripts = join(import.meta.dirname, '..', 'docs')

/** Bundles modules that run in a page, in order, into the text of a classic script, as an inline `<script>` needs it. */
export async function browserScript(...names: string[]): Promise<string> {
  // It is loaded only when a page is written.
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    stdin: { contents: names.map((name) => `import './${name}'`).join('\n'), resolveDir: pageScripts },
    bundle: true,
    // The manifest says that modules have no side effects; these have.
    ignoreAnnotations: true,
    write: false,
    minifyWhitespace: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
  })
  return outputFiles.map(({ text }) => text).join('')
}
