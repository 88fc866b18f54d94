import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { repositoryUrl } from '../../build/repository-url.ts'
import { headingAnchor } from '../../lint/markdown-links.ts'
import { usePageLinks } from '../page-links.ts'
import { withContentPolicy, writeSiteFiles } from '../site-files.ts'
import { landingPage, sitePath, siteSections } from '../site-pages.ts'

const root = resolve('.')
const sections = siteSections(root)
const pages = [landingPage, ...sections.flatMap(({ pages }) => pages.map(({ file }) => file))]
const address = await repositoryUrl()

const sidebar = sections.map(({ title, pages }, index) => ({
  text: title,
  collapsed: index === sections.length - 1,
  items: pages.map(({ file, title }) => ({ text: title, link: `/${file}` })),
}))

export default defineConfig({
  title: 'fastify-contract',
  description: 'Serves an OpenAPI document with Fastify, with types that the compiler checks.',
  srcDir: root,
  outDir: resolve(root, 'dist/site'),
  cacheDir: resolve(root, 'dist/site-cache'),
  // Relative links let the site work under any path, and without a server.
  base: './',
  // The patterns leave the pages that siteSections returns.
  srcExclude: [
    '!(docs|deploy|examples|packages|scripts|*.md)/**',
    'packages/test-support/**',
    'packages/*/!(docs|*.md)/**',
    'scripts/!(site)/**',
    'scripts/site/*/**',
  ],
  rewrites: { [landingPage]: sitePath(landingPage) },
  // Browsers ask for /favicon.ico otherwise.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  // The first view of a page loads this page only.
  router: { prefetchLinks: false },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      ...sidebar.slice(0, 3).map(({ text, items }) => ({ text, link: items[0]?.link ?? '/' })),
      // The router of the site knows no such page; a link with a target leaves it to the browser.
      { text: 'API', link: '/api/index.html', target: '_self' },
    ],
    sidebar,
    outline: [2, 3],
    ...(address?.startsWith('https://github.com/') && { socialLinks: [{ icon: 'github', link: address }] }),
  },
  markdown: {
    anchor: { slugify: headingAnchor },
    config: (markdown) => usePageLinks(markdown, { root, pages, address }),
  },
  transformHead: ({ page }) => [['link', { rel: 'alternate', type: 'text/markdown', href: `./${basename(page)}` }]],
  transformHtml: withContentPolicy,
  buildEnd: ({ outDir }) => writeSiteFiles(root, outDir, sections),
  vite: {
    plugins: [
      {
        // The pages are outside of the directory whose node_modules has vue.
        name: 'resolve-vue',
        enforce: 'pre',
        resolveId(id) {
          return /^vue(\/|$)/.test(id) ? this.resolve(id, fileURLToPath(import.meta.url), { skipSelf: true }) : null
        },
      },
    ],
  },
})
