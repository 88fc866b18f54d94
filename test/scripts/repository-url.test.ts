import { execFileSync } from 'node:child_process'
import t from 'tap'
import { browserUrl, repositoryUrl } from '../../scripts/build/repository-url.ts'

const remotes = {
  'https://example.com/plants/store.git': 'https://example.com/plants/store',
  'https://user:secret@example.com/plants/store': 'https://example.com/plants/store',
  'http://127.0.0.1:3000/plants/store/': 'http://127.0.0.1:3000/plants/store',
  'git@example.com:plants/store.git': 'https://example.com/plants/store',
  'example.com:plants/store': 'https://example.com/plants/store',
  'ssh://git@example.com:2222/plants/store.git/': 'https://example.com/plants/store',
  '/srv/plants/store.git': undefined,
  '../store': undefined,
  'C:\\plants': undefined,
  'file:///srv/plants': undefined,
  '': undefined,
}

for (const [remote, expected] of Object.entries(remotes))
  t.test(`the address of "${remote}" is ${expected}`, async (t) => t.equal(browserUrl(remote), expected))

t.test('the repository is that of the workflow, or else that of the remote', async (t) => {
  const directory = t.testdir({})
  const git = (...args: string[]) => execFileSync('git', ['-C', directory, ...args])
  git('init', '--quiet')
  t.equal(await repositoryUrl({}, directory), undefined)
  git('remote', 'add', 'origin', 'git@example.com:plants/store.git')
  t.equal(await repositoryUrl({}, directory), 'https://example.com/plants/store')
  const env = { GITHUB_SERVER_URL: 'https://github.example', GITHUB_REPOSITORY: 'owner/name' }
  t.equal(await repositoryUrl(env, directory), 'https://github.example/owner/name')
})
