import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runTool } from '../deploy/run-tool.ts'
import { runExample } from './run-example.ts'

const skip = (await runTool('nginx', '-v'))?.code === 0 ? false : 'NOT RUN: nginx is not installed'

t.test('nginx.conf forwards requests and returns an Error body while the service is down', { skip }, async (t) => {
  let pidFile = ''
  t.teardown(() => {
    // nginx leaves the process group of its shell; the last command of the example stops it unless the test fails.
    if (existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGTERM')
  })
  await runExample(t, 'nginx.conf', {
    onCopied(directory) {
      pidFile = join(directory, 'data/nginx.pid')
    },
  })
})
