import t from 'tap'
import { nodeProblem } from '../../src/cli/node-version.ts'
import { run } from '../support/process.ts'

t.test('a version of Node below that of package.json is refused', async (t) => {
  for (const version of ['20.19.0', '20.20.1', '22.0.0', '24.21.0']) t.equal(nodeProblem(version), undefined, version)
  for (const version of ['18.20.8', '20.18.3', '20.9.0', '9.0.0'])
    t.equal(nodeProblem(version), `Node 20.19.0 or newer is needed, this is ${version}`)
})

t.test('commands tell of an old Node in one line, before anything that it lacks', async (t) => {
  const directory = t.testdir({
    'old.cjs': `Object.defineProperty(process.versions, 'node', { value: '18.20.8' })`,
  })
  // What a module imports by name from Node must be there when it is loaded.
  const NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --require=${directory}/old.cjs`
  for (const [module, args, name] of [
    ['src/cli/main.ts', ['serve'], 'plant-store'],
    ['scripts/dev.ts', [], 'dev'],
    ['scripts/build.ts', [], 'build'],
  ] as const) {
    const { code, stdout, stderr } = await run(t, module, { NODE_OPTIONS }, [...args]).untilEnded()
    t.same([code, stdout, stderr], [1, '', `${name}: Node 20.19.0 or newer is needed, this is 18.20.8\n`])
  }
})
