import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { printable } from './values.js'

// Runs a client that is a JavaScript module: node run-cases.js MODULE CASES BASE_URL CONTROL_URL. The module exports
// `connect(baseUrl)`, which returns a function that sends a case and returns the members of its line.

async function main([module, documentFile, casesFile, baseUrl, controlUrl]) {
  const document = JSON.parse(readFileSync(documentFile, 'utf8'))
  const { connect } = await import(pathToFileURL(resolve(module)).href)
  const send = await connect(baseUrl, document)
  for (const each of JSON.parse(readFileSync(casesFile, 'utf8'))) {
    const { operation, case: name } = each
    await fetch(`${controlUrl}/${operation}/${encodeURIComponent(name)}`)
    const timeout = new Promise((_, reject) => setTimeout(reject, 20_000, new Error('no response in 20 s')).unref())
    const line = await Promise.race([send(each), timeout]).then(
      async (result) => ({ sent: true, ...result, response: await printable(result.response) }),
      (error) => ({ sent: false, error: `${error?.name ?? 'Error'}: ${error?.message ?? error}` }),
    )
    process.stdout.write(`${JSON.stringify({ operation, case: name, ...line })}\n`)
  }
  process.exit()
}

await main(process.argv.slice(2))
