import { type RequestOptions, request } from 'node:http'

export type Answer = { status: number; text: string }

/** Posts a body on a new connection. Returns the response, or undefined if the connection is refused. */
export function post(port: number, token: string | undefined, body: string): Promise<Answer | undefined> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const headers = { ...authorization, 'content-type': 'application/json' }
  return sendRequest({ port, path: '/plants', method: 'POST', headers }, body)
}

/** Returns whether `/readyz` of an admin server responds 200. */
export const isReady = async (port: number): Promise<boolean> =>
  (await sendRequest({ port, path: '/readyz' }))?.status === 200

function sendRequest(options: RequestOptions, body?: string): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, host: '127.0.0.1', agent: false }, async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve({ status: response.statusCode as number, text })
    })
    sent.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') resolve(undefined)
      else reject(error)
    })
    sent.end(body)
  })
}

/** Returns the request body that the load sends for an id. */
export const plantBody = (id: number): string => `{"id":${id},"name":"Monstera deliciosa","tag":"indoor"}`

/** The correct response body to every `plantBody`. */
export const responseBody = '{"name":"Monstera deliciosa","tag":"indoor"}'

/**
 * Asserts that a server does all of the work: it stores a plant and rejects a taken id, invalid bodies and invalid
 * tokens. Rejects with the first wrong response.
 */
export async function assertWorks(name: string, port: number, token: string): Promise<void> {
  const check = async (what: string, allowed: (answer: Answer) => boolean, body: string, sent?: string) => {
    const answer = await post(port, sent, body)
    if (answer === undefined || !allowed(answer)) {
      throw new Error(`${name} responds to ${what} with ${answer?.status}: ${answer?.text}`)
    }
  }
  const is = (expected: number) => (answer: Answer) => answer.status === expected
  const isRefusal = ({ status }: Answer) => status >= 400 && status < 500
  const isPlant = ({ status, text }: Answer) => status === 200 && text === responseBody
  await check('a plant', isPlant, plantBody(-2), token)
  await check('the same plant', isPlant, plantBody(-2), token)
  await check('another plant of that id', is(409), '{"id":-2,"name":"another"}', token)
  await check('a body that is not JSON', isRefusal, '{"id":-3,"name":"a"', token)
  await check('an id that is not an integer', isRefusal, '{"id":12.5,"name":"a"}', token)
  await check('a plant without a name', isRefusal, '{"id":-4}', token)
  await check('a name that is not a string', isRefusal, '{"id":-5,"name":{}}', token)
  await check('a bad token', is(401), plantBody(-6), `${token}x`)
  await check('no token', is(401), plantBody(-6))
}
