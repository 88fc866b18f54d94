import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { writeDocs } from '../../packages/fastify-contract-cli/src/docs/docs-page.ts'
import { compileContract } from '../../packages/fastify-contract-cli/src/emit/compile.ts'
import { browserSkipReason } from '../support/chromium.ts'
import { inBrowser, show, violations } from './accessibility.ts'

const out = t.testdir({})

async function methodsPage(): Promise<string> {
  const { files } = await compileContract('packages/fastify-contract-cli/test/documents/methods/openapi.yaml')
  writeFileSync(join(out, 'openapi.json'), files['openapi.json'] as string)
  return await writeDocs(join(out, 'methods'), { generated: out })
}

const index = browserSkipReason ? '' : await methodsPage()

for (const dark of [false, true])
  t.test(`axe finds nothing on operations and the history, ${dark ? 'dark' : 'light'}`, inBrowser, async (t) => {
    const page = await show(t, index, 1280, dark)
    for (const operation of ['getFile', 'checkFile', 'patchFile']) {
      await page.evaluate(`go(/${operation}/i)`)
      t.same(await violations(page), [], operation)
    }
    const history = await show(t, join(dirname(index), 'history.html'), 400, dark)
    t.same(await violations(history), [], 'history')
    t.match(await history.evaluate('document.body.innerText'), /History of Every method/)
  })
