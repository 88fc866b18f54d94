import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Test } from 'tap'

/** Opens a page in a new headless browser; records its requests, those blocked by its CSP, and its exceptions. */
export async function open(
  t: Test,
  chromium: string,
  url: string,
  width: number,
  { dark = false, height = 20_000 } = {},
) {
  const flags = ['no-sandbox', 'disable-gpu', 'disable-quic', 'no-first-run', 'disable-background-networking']
  const profile = mkdtempSync(join(tmpdir(), 'plant-store-'))
  const browser = spawn(
    chromium,
    ['--headless', '--remote-debugging-pipe', `--user-data-dir=${profile}`, ...flags.map((flag) => `--${flag}`)],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  )
  const closed = once(browser, 'close')
  t.teardown(async () => {
    browser.kill()
    await closed
    // Child processes of the browser may still write for a moment.
    await rm(profile, { recursive: true, maxRetries: 10 })
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
  const size = { width, height, deviceScaleFactor: 1, mobile: false }
  await send('Emulation.setDeviceMetricsOverride', size)
  const features = [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]
  await send('Emulation.setEmulatedMedia', { features })
  await send('Page.navigate', { url })
  const evaluate = async (expression: string) =>
    (await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })).result.value
  /** Presses Enter in the focused element, as a keyboard does. */
  const pressEnter = async () => {
    for (const type of ['keyDown', 'keyUp'])
      await send('Input.dispatchKeyEvent', { type, key: 'Enter', code: 'Enter', text: '\r', windowsVirtualKeyCode: 13 })
  }
  return { requests, refused, faults, evaluate, pressEnter }
}
