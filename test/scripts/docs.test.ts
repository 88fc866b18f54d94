import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { copyProject } from '../support/copy.ts'
import { run } from '../support/process.ts'

const document = JSON.parse(readFileSync('generated/openapi.json', 'utf8'))
const operations: { summary: string; responses: Record<string, { description: string }> }[] = Object.values(
  document.paths as Record<string, object>,
).flatMap(Object.values)
const errors: string[] = document.info.description.match(/(?<=^\| )\d{5}(?= \|)/gm)
const schemas = Object.keys(document.components.schemas)

const out = t.testdir({ first: {}, second: {} })
const page = join(out, 'first', 'index.html')

t.test('two builds are the same page, to the byte, and it names nothing to load', async (t) => {
  await Promise.all(
    ['first', 'second'].map((name) =>
      promisify(execFile)(process.execPath, ['--import=tsx', 'scripts/docs.ts', '--out', join(out, name)]),
    ),
  )
  const html = readFileSync(page, 'utf8')
  t.ok(html === readFileSync(join(out, 'second', 'index.html'), 'utf8'))
  const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1]
  t.match(policy, /^default-src 'none'; /)
  t.notMatch(policy, /http|ws|\*|'self'|connect-src/)
  // What the bundle holds in its strings is the browser's part of this test.
  const markup = html.replaceAll(/<script[^>]*>.*?<\/script>/gs, (script) => script.slice(0, script.indexOf('>') + 1))
  const load = /<(script|img|iframe|source)[^>]* src=|<link[^>]* href="(?!data:)|@import|url\(['"]?(https?:)?\/\//
  t.equal(load.exec(markup)?.[0], undefined)
  t.ok(markup.includes(`(${document.info.version})`), 'the version')
  t.ok(errors.length > 0 && operations.length > 0 && schemas.length > 0)
  for (const error of errors) t.ok(markup.includes(`>${error}<`), error)
  for (const text of [...operations.map(({ summary }) => summary), ...schemas]) t.ok(html.includes(text), text)
})

for (const width of [1280, 400]) {
  t.test(`in a browser ${width} pixels wide the page shows everything and asks for nothing`, async (t) => {
    const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium'
    if (!existsSync(chromium)) return t.comment(`there is no browser at ${chromium}: CHROMIUM names another`)
    const { requests, refused, faults, evaluate } = await open(t, chromium, pathToFileURL(resolve(page)).href, width)
    const text = await evaluate(readEverything)
    for (const error of errors) t.ok(text.includes(error), error)
    for (const schema of schemas) t.ok(text.includes(schema), schema)
    for (const { summary, responses } of operations) {
      t.ok(text.includes(summary), summary)
      for (const { description } of Object.values(responses))
        t.ok(text.includes(plain(description)), plain(description))
    }
    t.equal(await evaluate('document.documentElement.scrollWidth'), width, 'nothing scrolls sideways')
    t.same(
      requests.filter((url) => !/^(file|data):/.test(url) && !refused.includes(url)),
      [],
    )
    t.same(faults, [])
  })
}

t.test('what the linter refuses is not documented', async (t) => {
  const cwd = copyProject(t)
  const path = join(cwd, 'openapi', 'plant-store.yaml')
  writeFileSync(path, readFileSync(path, 'utf8').replace('summary: Create a plant', 'summary: Create A Plant'))
  const docs = promisify(execFile)(process.execPath, ['--import=tsx', 'scripts/docs.ts'], { cwd })
  await t.rejects(docs, { code: 1, stderr: /rule\/summary-in-sentence-case/ })
  t.notOk(existsSync(join(cwd, 'dist')))
})

t.test('--serve serves the page and nothing else', async (t) => {
  const { find } = run(t, 'scripts/docs.ts', {}, ['--serve', '--out', join(out, 'served')])
  const [address = ''] = await find('stdout', /http:\/\/127\.0\.0\.1:\d+\//)
  const answer = await fetch(address)
  t.match(answer.headers.get('content-type'), 'text/html; charset=utf-8')
  t.ok((await answer.text()) === readFileSync(page, 'utf8'))
  t.equal((await fetch(new URL('package.json', address))).status, 404)
  t.equal((await fetch(address, { method: 'POST' })).status, 404)
})

/** Markdown as it is read: one line, without backticks. */
function plain(markdown: string): string {
  return markdown.replaceAll('`', '').replaceAll(/\s+/g, ' ').trim()
}

/** Goes through the menu, since one section is open at a time, and through all tabs; gives all text that was seen. */
const readEverything = `(async () => {
  const seen = []
  const look = async () => {
    await new Promise((done) => setTimeout(done, 200))
    seen.push(document.body.innerText)
  }
  const links = () => [...document.querySelectorAll('.menu-content a[href^="#/"]')].map((link) => link.hash)
  for (let tries = 0; tries < 100 && links().length === 0; tries++) await look()
  for (const link of links()) {
    location.hash = link
    await look()
    for (const tab of document.querySelectorAll('[role=tab]')) {
      tab.click()
      await look()
    }
  }
  return seen.join(' ').replaceAll(/\\s+/g, ' ')
})()`

/** Opens a page in a new headless browser and keeps what it asked for, what the page's policy refused, what failed. */
async function open(t: Test, chromium: string, url: string, width: number) {
  const flags = ['no-sandbox', 'disable-gpu', 'disable-quic', 'no-first-run', 'disable-background-networking']
  const browser = spawn(
    chromium,
    ['--headless', '--remote-debugging-pipe', `--user-data-dir=${t.testdir({})}`, ...flags.map((flag) => `--${flag}`)],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  )
  const closed = once(browser, 'close')
  t.teardown(async () => {
    browser.kill()
    await closed
  })
  const [input, output] = [browser.stdio[3] as Writable, browser.stdio[4] as Readable]
  // biome-ignore lint/suspicious/noExplicitAny: the messages of the DevTools protocol have no types here
  type Message = any
  const answers = new Map<number, (message: Message) => void>()
  const requests: string[] = []
  const refused: string[] = []
  const faults: string[] = []
  const urls = new Map<string, string>()
  let sessionId: string | undefined
  let rest = ''
  output.setEncoding('utf8').on('data', (text: string) => {
    const messages = (rest + text).split('\0')
    rest = messages.pop() as string
    for (const { id, method, params, ...message } of messages.map((text): Message => JSON.parse(text))) {
      answers.get(id)?.(message)
      if (method === 'Network.requestWillBeSent') {
        requests.push(params.request.url)
        urls.set(params.requestId, params.request.url)
      } else if (method === 'Network.webSocketCreated') requests.push(params.url)
      else if (method === 'Network.loadingFailed' && params.blockedReason === 'csp')
        refused.push(urls.get(params.requestId) as string)
      else if (method === 'Runtime.exceptionThrown') faults.push(JSON.stringify(params.exceptionDetails))
    }
  })
  const send = async (method: string, params: object = {}): Promise<Message> => {
    const id = answers.size + 1
    const answer = new Promise<Message>((done) => answers.set(id, done))
    input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    const { result, error } = await answer
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' })
  sessionId = (await send('Target.attachToTarget', { targetId, flatten: true })).sessionId
  await Promise.all(['Network.enable', 'Runtime.enable'].map((method) => send(method)))
  const size = { width, height: 20_000, deviceScaleFactor: 1, mobile: false }
  await send('Emulation.setDeviceMetricsOverride', size)
  await send('Page.navigate', { url })
  const evaluate = async (expression: string) =>
    (await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })).result.value
  return { requests, refused, faults, evaluate }
}
