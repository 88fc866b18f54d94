import t from 'tap'
import { reportError } from '../../src/cli/report-error.ts'

t.test('an overflow of the stack is reported as a document that is nested too deeply', (t) => {
  const { exitCode } = process
  t.teardown(() => {
    process.exitCode = exitCode
  })
  const write = t.capture(process.stderr, 'write', () => true)
  const overflow = (): number => overflow() + 1
  try {
    overflow()
  } catch (error) {
    reportError(error as Error)
  }
  const [call] = write()
  t.equal(call?.args[0], 'schemas are nested too deeply; move inner schemas into components\n')
  t.equal(process.exitCode, 1)
  t.end()
})
