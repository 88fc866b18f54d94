import t from 'tap'
import { basicCredentials, exampleCommand, examplePlaceholders } from '../../src/contract/example-command.ts'
import type { Routes } from '../../src/contract/routes.ts'

t.test('an example calls the given URL with the given token, also as a password', async (t) => {
  const { url, token } = examplePlaceholders
  const commandOf = (example?: string) => exampleCommand({ example } as Routes, 'http://[::1]:3000', '$&')
  t.equal(commandOf(`curl '${url}/a?key=${token}'`), "curl 'http://[::1]:3000/a?key=$&'")
  t.equal(commandOf(`curl -H '${basicCredentials(token)}'`), `curl -H '${btoa('access-token-1:$&')}'`)
  t.equal(commandOf(), undefined)
})
