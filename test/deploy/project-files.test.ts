import { readFileSync } from 'node:fs'
import t from 'tap'
import { ciWorkflow } from '../../packages/fastify-contract-cli/src/init/files/ci-workflow.ts'
import { dockerfile } from '../../packages/fastify-contract-cli/src/init/files/dockerfile.ts'
import type { Project } from '../../packages/fastify-contract-cli/src/init/project.ts'

// Dependabot updates the files of this repository, but not those that init writes.
const project = {
  compiled: { routes: { info: { title: 'Pets' } } },
  packages: { dependencies: {}, devDependencies: {} },
  manager: 'npm',
  leftOut: new Set(),
} as unknown as Project
const read = (path: string) => readFileSync(path, 'utf8')

t.test('a project of init has the actions of this repository, in the same versions', async (t) => {
  const uses = ciWorkflow(project).match(/uses: .*/g) ?? []
  t.equal(uses.length, 2)
  for (const one of uses) t.match(read('.github/workflows/ci.yaml'), `- ${one}\n`)
})

t.test('a project of init has the release lines of Node.js and Debian of this repository', async (t) => {
  const line = read('.nvmrc').trim()
  t.match(ciWorkflow(project), `node-version: ${line}\n`)
  const [, release] = /^FROM node:[\d.]+-(\w+)-slim/m.exec(read('Dockerfile')) ?? []
  t.match(dockerfile(project), `FROM node:${line}-${release}-slim AS manifests\n`)
})
