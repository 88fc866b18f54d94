import { readFileSync } from 'node:fs'
import { until } from 'fastify-contract-test-support/poll'
import t from 'tap'
import { open } from '../support/browser.ts'
import { browserSkipReason, chromium } from '../support/chromium.ts'
import { runExample } from './run-example.ts'

t.test('client-page.html creates plants from a browser', { skip: browserSkipReason }, async (t) => {
  const { outputs, replacePorts } = await runExample(t, 'client-page.html')
  const comment = readFileSync('examples/client-page.html', 'utf8')
  const [, url = ''] = /Open (\S+),/.exec(comment) ?? []
  const shown = Array.from(comment.matchAll(/shows:\n\n(.*)\n/g), ([, line]) => line)
  t.equal(shown.length, 2)

  const page = await open(t, chromium, replacePorts(url), 800)
  await until(() => page.evaluate('document.readyState === "complete"'), 'the page')
  const submit = async (fields: Record<string, string>) => {
    await page.evaluate(`(() => {
      const form = document.querySelector('form')
      document.querySelector('output').value = ''
      for (const [name, value] of Object.entries(${JSON.stringify(fields)})) form.elements[name].value = value
      form.requestSubmit()
    })()`)
    return await until(() => page.evaluate('document.querySelector("output").value'), 'the outcome')
  }
  const token = outputs.at(-1) as string
  t.equal(await submit({ token }), shown[0])
  t.equal(await submit({ name: 'Ficus' }), shown[1])
  t.equal(await submit({ token: 'wrong' }), '401 (40101): the access token is not valid')
  t.same(page.faults, [])
})
