import { join } from 'node:path'
import { run } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { loadEnvironmentFile } from '../../src/service/environment-file.ts'
import { ownPath } from '../support/own-path.ts'

t.test('a file sets the variables that are not set, and a missing file sets none', async (t) => {
  const directory = t.testdir({
    bom: '\uFEFFTEST_BOM=1\r\nexport TEST_NEXT="2"\r\n',
    '.env': '# A comment.\n#OFF=1\nTEST_OWN=file\nTEST_SET="file"\nTEST_NAME=a=b # c\nno variable\n',
  })
  process.env.TEST_SET = 'environment'
  t.teardown(() => {
    for (const name of ['TEST_OWN', 'TEST_SET', 'TEST_NAME', 'TEST_BOM', 'TEST_NEXT']) delete process.env[name]
  })
  loadEnvironmentFile(join(directory, 'none'))
  t.equal(process.env.TEST_OWN, undefined)
  loadEnvironmentFile(join(directory, '.env'))
  t.match(process.env, { TEST_OWN: 'file', TEST_SET: 'environment', TEST_NAME: 'a=b' })
  t.notOk('OFF' in process.env)
  t.same(loadEnvironmentFile(join(directory, 'bom')).sort(), ['TEST_BOM', 'TEST_NEXT'])
  t.match(process.env, { TEST_BOM: '1', TEST_NEXT: '2' }, 'editors of Windows write a byte order mark')
})

t.test('a service reads its file, and reports what is wrong there in one line', async (t) => {
  const directory = t.testdir({ '.env': 'BODY_LIMIT=abc\n', folder: {}, other: 'JWT_ISUER=secret\n' })
  const info = { title: 'Pets', version: '1.2.3' }
  const DOCUMENT = JSON.stringify({ openapi: '3.1.0', info, security: [{}], paths: {} })
  const start = (name: string, set: Record<string, string> = {}) => {
    const environment = { DOCUMENT, ENVIRONMENT_FILE: join(directory, name), ...set }
    return run(t, ownPath('test/service/plain-service.ts'), environment)
  }
  const cases: [name: string, stderr: RegExp][] = [
    ['.env', /^plain: BODY_LIMIT is "abc"; expected a number of bytes from 1 to \d+\n$/],
    ['other', /^plain: \S+other: JWT_ISUER is not a variable of this service; did you mean JWT_ISSUER\?\n$/],
    ['folder', /^plain: \S+folder cannot be read \(.*\); make it a file with lines NAME=VALUE, or remove it\n$/],
  ]
  for (const [name, stderr] of cases) t.match(await start(name).untilEnded(), { code: 1, stderr })
  const service = start('.env', { BODY_LIMIT: '1000' })
  await service.find('stderr', /^plain 1\.2\.3 on /)
  t.match(await service.stop(), { code: 0 })
})
