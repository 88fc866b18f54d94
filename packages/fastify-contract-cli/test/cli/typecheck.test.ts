import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { ownPath } from '../support/own-path.ts'

const cli = resolve(ownPath('src/cli.ts'))
const tsx = import.meta.resolve('tsx')

/** Returns a program that prints its arguments and then what `tsc --pretty` would, and exits as that does. */
const compilerOf = (output: string, code: number) => ({
  'package.json': JSON.stringify({ bin: { tsc: './tsc.cjs' } }),
  'tsc.cjs': `require('node:fs').writeFileSync('arguments.json', JSON.stringify(process.argv.slice(2)))
console.log(${JSON.stringify(output)}); process.exit(${code})`,
})

const handlers = `export const handlers = {
  async getPet() {
    return { status: 200, body: 7 }
  },
}
`
const message = `\u001B[96msrc/handlers.ts\u001B[0m:\u001B[93m2\u001B[0m:\u001B[93m9\u001B[0m - \u001B[91merror\u001B[0m\u001B[90m TS2322: \u001B[0mType '() => Promise<{ status: 200; body: number; }>' is not assignable to type 'Handler<GetPetRequest, GetPetResponse>'.
  Type 'Promise<{ status: 200; body: number; }>' is not assignable to type 'Promise<ResponseOf<operations, "getPet", 200>>'.
    Types of property 'body' are incompatible.
      Type 'number' is not assignable to type 'string'.

\u001B[7m2\u001B[0m   async getPet() {

Found 1 error in src/handlers.ts:2`

t.test('typecheck runs the compiler of the project and prints the messages as dev does', async (t) => {
  const typecheck = (cwd: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, ['--import', tsx, cli, 'typecheck', ...args], { cwd }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }) => ({ code, stdout }),
    )
  const directory = t.testdir({
    wrong: { src: { 'handlers.ts': handlers }, node_modules: { typescript: compilerOf(message, 2) } },
    right: { node_modules: { typescript: compilerOf('', 0) } },
  })
  const [wrong, right] = await Promise.all([
    typecheck(resolve(directory, 'wrong'), '--project', 'tsconfig.test.json'),
    typecheck(resolve(directory, 'right')),
  ])
  const expected = `src/handlers.ts:2:9 - error TS2322: Type 'number' is not assignable to type 'string'.
  Types of property 'body' are incompatible.
  in getPet
2   async getPet() {
`
  t.same(wrong, { code: 1, stdout: expected })
  t.same(right, { code: 0, stdout: '' })
  const argumentsOf = async (name: string) =>
    (await import(resolve(directory, name, 'arguments.json'), { with: { type: 'json' } })).default
  t.same(await argumentsOf('wrong'), ['--project', 'tsconfig.test.json', '--noEmit', '--pretty'])
  t.same(await argumentsOf('right'), ['--project', 'tsconfig.json', '--noEmit', '--pretty'])
})
