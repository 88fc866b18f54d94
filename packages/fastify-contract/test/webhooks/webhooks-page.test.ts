import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { compileContract } from 'fastify-contract-cli/compile'
import { diagnose } from 'fastify-contract-test-support/compiler'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import type { VerifierFactory } from '../../src/auth/verifiers.ts'
import { checkEmptyBody } from '../../src/http/read-body.ts'
import type { Delivery } from '../../src/webhooks.ts'
import { ownPath } from '../support/own-path.ts'
import { verifierContext } from '../support/serve-document.ts'
import { type Received, receiver } from '../support/webhook-receiver.ts'

const page = readFileSync(ownPath('docs/webhooks.md'), 'utf8')
const blocks = Array.from(page.matchAll(/^```\w+\n((?:\/\/|#) (\S+)\n.*?)^```$/gms))

/** The files of the page, by their names. */
const texts = Object.fromEntries(blocks.map(([, code = '', name = '']) => [name, code]))

/** The modules of the page. */
type Sending = {
  subscription(input: object): { url: string; secrets: string[] }
  sendShipped(to: { url: string; secrets: string[] }, id: bigint): Promise<{ status: number; delivery: Delivery }>
}
type Repository = { repositorySignature(secret: string): VerifierFactory }
type Receiving = { createApp(secrets: string[]): FastifyInstance }

t.test(
  'the sender and the receiver of the page compile, and work with each other and with standardwebhooks',
  async (t) => {
    t.same(Object.keys(texts), ['shop.yaml', 'send.ts', 'partner.yaml', 'receive.ts', 'repository-signature.ts'])
    const directory = t.testdir({
      ...texts,
      'redocly.yaml': 'rules: { struct: error }\n',
      'package.json': '{ "type": "module" }',
    })
    const at = (...names: string[]) => join(directory, ...names)
    for (const name of ['shop', 'partner']) {
      const { files, warnings } = await compileContract(at(`${name}.yaml`), { rules: at('redocly.yaml') })
      t.same(warnings, [])
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(dirname(at(name, file)), { recursive: true })
        writeFileSync(at(name, file), text)
      }
    }
    t.same(diagnose([at('send.ts'), at('receive.ts')], {}), [])

    const sending: Sending = await import(pathToFileURL(at('send.ts')).href)
    const receiving: Receiving = await import(pathToFileURL(at('receive.ts')).href)
    const { secrets } = sending.subscription({ body: { callbackUrl: 'https://partner.example' } })
    const app = receiving.createApp(secrets)
    t.teardown(() => app.close())
    const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/hooks/shipped`
    const id = 9_007_199_254_740_993n
    for (const _ of [1, 2])
      t.match(await sending.sendShipped({ url, secrets }, id), {
        status: 204,
        delivery: { id: `shipped-${id}`, attempts: 1 },
      })
    const forged = sending.subscription({ body: { callbackUrl: url } })
    await t.rejects(sending.sendShipped(forged, id), { name: 'WebhookError', kind: 'unexpectedStatus', status: 401 })

    const { received, url: other } = await receiver(t, (response) => response.writeHead(204).end())
    await sending.sendShipped({ url: other, secrets }, id)
    const [{ body, headers }] = received as [Received]
    const verified = new Webhook(secrets[0] as string).verify(body, headers as Record<string, string>)
    t.same([verified, body], [{ id: Number(id) }, `{"id":${id}}`], 'that package rounds, as the page says')
  },
)

t.test('the signature of another sender on the page compiles and works', async (t) => {
  const module = 'repository-signature.ts'
  const path = join(t.testdir({ [module]: texts[module] as string }), module)
  t.same(diagnose([path], {}), [])
  const { repositorySignature }: Repository = await import(pathToFileURL(path).href)
  const verify = await repositorySignature('secret')(verifierContext(undefined as never))
  /** Returns the message of the rejection of a request without a body; undefined if there is none. */
  function rejectionOf(headers: object): string | undefined {
    const request = { headers, raw: {} } as FastifyRequest
    let message: string | undefined
    const note = (error?: Error) => {
      message ??= error?.message
    }
    verify(request, note, [], undefined as never)
    checkEmptyBody(request, undefined as never, note)
    return message
  }
  // printf '' | openssl dgst -sha256 -hmac secret
  const digest = 'f9e66e179b6747ae54108f82f8ade8b3c25d76fd30afde6c395822c530196169'
  t.equal(rejectionOf({ 'x-hub-signature-256': `sha256=${digest}` }), undefined)
  t.match(rejectionOf({ 'x-hub-signature-256': 'sha256=' }), /^X-Hub-Signature-256 is not the signature/)
  t.equal(rejectionOf({ 'webhook-id': 'a' }), 'the headers of a signed webhook are missing')
})
