import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, symlinkSync, utimesSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, extname, join, resolve } from 'node:path'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import t, { type Test } from 'tap'
import { markdownPages } from '../../scripts/lint/markdown-links.ts'
import { landingPage } from '../../scripts/site/site-pages.ts'
import { installTools } from '../../scripts/system/install-tools.ts'
import { open } from '../support/browser.ts'
import { chromium } from '../support/chromium.ts'
import { copyProject } from '../support/project-copy.ts'
import { inBrowser, inPage, violations } from './accessibility.ts'

const repository = { GITHUB_SERVER_URL: 'https://git.example', GITHUB_REPOSITORY: 'owner/name' }

/** Copies the project with its pages, and with the packages that build the site. */
function copyWithPages(t: Test): string {
  installTools('scripts/site')
  const directory = copyProject(t)
  for (const name of ['docs', 'deploy', 'examples', ...readdirSync('.').filter((name) => name.endsWith('.md'))])
    cpSync(name, join(directory, name), { recursive: true })
  for (const name of ['LICENSE', '.github', '.ci', 'test', 'findings'])
    symlinkSync(resolve(name), join(directory, name))
  symlinkSync(resolve('scripts/site/node_modules'), join(directory, 'scripts/site/node_modules'))
  // Otherwise the lock file is newer than the packages, and they are installed anew.
  utimesSync(join(directory, 'scripts/site/package-lock.json'), 0, 0)
  return directory
}

/** Starts the command in a copy of the project, until the test ends. */
function start(t: Test, directory: string, ...args: string[]) {
  // The command runs the generator as a process of its own, which the signal must reach, too.
  const options = { cwd: directory, env: repository, detached: true }
  const command = spawnProcess(['npx', 'tsx', 'scripts/site.ts', ...args], options)
  t.teardown(() => command.signal('SIGKILL'))
  return command
}

const root = copyWithPages(t)
const site = join(root, 'dist', 'site')
const serving = start(t, root, '--serve')
const [, address = ''] = await serving.find('stdout', /(http:\/\/127\.0\.0\.1:\d+\/)/)
const pages = markdownPages('.').map((file) => (file === landingPage ? 'index.md' : file))
const htmlOf = (page: string) => readFileSync(join(site, page.replace(/\.md$/, '.html')), 'utf8')

t.test('each page is on the site as HTML and as the Markdown of the repository', async (t) => {
  t.notMatch(serving.output.stdout + serving.output.stderr, /failed|warn/i)
  t.same(
    readdirSync(site, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.html') && !/^(404\.html|api\/.*)$/.test(file))
      .sort(),
    pages.map((page) => page.replace(/\.md$/, '.html')).sort(),
  )
  for (const page of pages.filter((page) => page !== 'index.md'))
    t.equal(readFileSync(join(site, page), 'utf8'), readFileSync(page, 'utf8'), page)
  t.same(readdirSync(join(site, 'api')).sort(), ['history.html', 'index.html', 'openapi.json'])
  const link = '<nav class="pages" aria-label="Pages"><a href="../index.html">fastify-contract</a>'
  t.ok(htmlOf('api/index.md').includes(link), 'the API page leads back to the guides')
  t.ok(htmlOf('api/history.md').includes(link.replace(' class="pages"', '')))
})

t.test('the configuration has the types of the generator', async (t) => {
  // The compiler leaves out directories whose names begin with a dot.
  const { status, stdout } = spawnSync('npx', ['tsc', '-p', 'scripts/site'], { encoding: 'utf8' })
  t.equal(status, 0, stdout)
})

t.test('llms.txt and llms-full.txt have every page', async (t) => {
  const [index, full] = ['llms.txt', 'llms-full.txt'].map((name) => readFileSync(join(site, name), 'utf8'))
  t.match(index, /^# Your .*\n\n> fastify-contract serves .*\n\n## The engine\n\n- \[/)
  const links = Array.from(String(index).matchAll(/^- \[.+?\]\(([^)]+)\)/gm), ([, path = '']) => path)
  t.same(
    links.toSorted(),
    [...pages.filter((page) => page !== 'index.md'), 'api/index.html', 'api/openapi.json'].sort(),
  )
  for (const page of pages) t.ok(full?.includes(readFileSync(join(site, page), 'utf8')), page)
})

t.test(
  'the links of every page lead to a page of the site, to one of its headings, or to the repository',
  async (t) => {
    for (const page of pages) {
      for (const [, text = ''] of htmlOf(page).matchAll(/<a [^>]*?href="([^"]*)"/g)) {
        const href = text.replaceAll('&amp;', '&')
        if (/^(https?|mailto):/.test(href)) {
          const [, path] = /^https:\/\/git\.example\/owner\/name\/(?:blob|tree)\/HEAD\/([^#]*)/.exec(href) ?? []
          if (path !== undefined) t.ok(existsSync(path), `${page}: ${href}`)
          continue
        }
        const [path = '', anchor] = href.split('#').map(decodeURIComponent)
        const file = path === '' ? page.replace(/\.md$/, '.html') : join(dirname(page), path)
        if (!t.ok(existsSync(join(site, file)), `${page}: ${href}`) || !anchor) continue
        t.ok(readFileSync(join(site, file), 'utf8').includes(`id="${anchor}"`), `${page}: ${href}`)
      }
    }
  },
)

t.test('no page loads a resource from elsewhere, and its policy forbids it', async (t) => {
  for (const page of [...pages, '404.md']) {
    const html = htmlOf(page)
    t.match(html, /<meta charset="utf-8">\s*<meta http-equiv="Content-Security-Policy" content="default-src 'none'; /)
    const loaded = html.matchAll(/<(?:script|img|iframe|source)\b[^>]* src="([^"]*)"|<link\b[^>]* href="([^"]*)"/g)
    for (const [, source, link] of loaded) t.match(source ?? link, /^(\.|data:,)/, page)
  }
  for (const file of readdirSync(join(site, 'assets'), { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.css'))
      t.notMatch(readFileSync(join(site, 'assets', file), 'utf8'), /url\(["']?(https?:)?\/\/|@import/)
})

const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

/** Serves the site below a path, as project pages are, until the test ends; returns its URL. */
async function serveSite(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    const file = join(site, String(request.url).replace(/^\/name\//, ''))
    if (!existsSync(file)) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(readFileSync(file))
  }).listen(0, '127.0.0.1')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/name`
}

/** Opens a page of the site, and waits until it can be used. */
async function openPage(t: Test, path: string, width: number, dark: boolean) {
  const url = await serveSite(t)
  const page = await open(t, chromium, `${url}/${path}`, width, { dark, height: 900 })
  await page.evaluate(inPage)
  await page.evaluate(`found(() => document.querySelector('#app')?.__vue_app__ !== undefined)`)
  return { ...page, url }
}

const shown = [
  'index.html',
  'packages/fastify-contract/docs/handlers.html',
  'packages/fastify-contract-cli/docs/openapi.html',
]

for (const path of shown)
  for (const [width, dark] of [
    [1280, false],
    [390, true],
  ] as const)
    t.test(`${path}, ${width} pixels wide, is accessible and loads only the site`, inBrowser, async (t) => {
      const page = await openPage(t, path, width, dark)
      t.same(await violations(page), [])
      t.equal(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'), 0)
      t.equal(await page.evaluate(`document.documentElement.classList.contains('dark')`), dark)
      t.same([page.faults, page.refused], [[], []])
      for (const asked of page.requests) t.match(asked, /^data:/.test(asked) ? /./ : page.url)
    })

t.test('the search finds a guide, and its result leads there', inBrowser, async (t) => {
  const { evaluate, faults, refused, requests, url } = await openPage(t, 'docs/stores.html', 1280, false)
  await evaluate(`document.querySelector('.VPNavBarSearchButton').click()`)
  await evaluate(`found(() => document.querySelector('input.search-input')).then((field) => type(field, 'itemSchema'))`)
  const result = `document.querySelector('.results a[href*="/fastify-contract-cli/docs/openapi.html"]')`
  await evaluate(`found(() => ${result}).then((link) => link.click())`)
  await evaluate(`found(() => document.title.startsWith('OpenAPI, field by field'))`)
  t.match(await evaluate('location.href'), `${url}/packages/fastify-contract-cli/docs/openapi.html`)
  t.same([faults, refused], [[], []])
  for (const asked of requests) t.match(asked, /^data:/.test(asked) ? /./ : url)
})

t.test('--serve serves the site on this machine', async (t) => {
  for (const path of ['', 'docs/stores.html', 'api/index.html'])
    t.match(await (await fetch(address + path)).text(), /^<!doctype html>/i)
  t.match(await (await fetch(`${address}docs/stores.md`)).text(), /^# Stores\n/)
})

t.test('a link that leads nowhere fails the build', async (t) => {
  appendFileSync(join(root, 'docs', 'stores.md'), '\n[a](missing.md)\n')
  const { code, stdout, stderr } = await start(t, root).untilEnded()
  t.equal(code, 1)
  t.match(stdout + stderr, /dead link .*missing in file .*docs\/stores\.md/)
})
