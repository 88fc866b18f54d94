import t from 'tap'
import { nodeProblem } from '../../packages/fastify-contract/src/cli/node-version.ts'
import { oldNode, run } from '../support/child-process.ts'

t.test('a Node version below that of package.json is rejected', async (t) => {
  for (const version of ['20.19.0', '20.20.1', '22.0.0', '24.21.0'])
    t.equal(nodeProblem(version, '>=20.19.0'), undefined, version)
  for (const version of ['18.20.8', '20.18.3', '20.9.0', '9.0.0'])
    t.equal(nodeProblem(version, '>=20.19.0'), `Node ${version} is too old; use Node 20.19.0 or newer`)
})

t.test('plant-store reports an old Node in one line before it uses newer features', async (t) => {
  const { code, stdout, stderr } = await run(t, 'src/cli/main.ts', oldNode, ['serve']).untilEnded()
  t.same([code, stdout, stderr], [1, '', 'plant-store: Node 18.20.8 is too old; use Node 20.19.0 or newer\n'])
})
