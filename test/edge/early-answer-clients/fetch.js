// Sends uploads with Node's fetch: fetch.js URL TOKEN BYTES TRIES prints the status or the error of each try.
const [url, token, bytes, tries] = process.argv.slice(2)
const body = Buffer.alloc(Number(bytes), 'a')
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
for (let i = 0; i < Number(tries); i++) {
  try {
    const response = await fetch(url, { method: 'POST', headers, body })
    await response.text()
    process.stdout.write(`${response.status}\n`)
  } catch (error) {
    process.stdout.write(`${error.cause?.code ?? error.cause?.message ?? error.message}\n`)
  }
}
