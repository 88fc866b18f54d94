import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import {
  missingSettings,
  npmSettings,
  packageManagerOf,
  pnpmSettings,
  settingsFile,
} from '../../src/init/package-manager.ts'

t.test('a project has the package manager of the files above, or else of the process', async (t) => {
  const directory = t.testdir({ 'pnpm-workspace.yaml': '', lock: { 'pnpm-lock.yaml': '' } })
  t.equal(packageManagerOf(join(directory, 'packages', 'new')), 'pnpm')
  t.equal(packageManagerOf(join(directory, 'lock')), 'pnpm')
  const workspace = join(directory, 'pnpm-workspace.yaml')
  t.equal(settingsFile('pnpm', directory), workspace)
  t.equal(
    settingsFile('pnpm', join(directory, 'packages', 'new')),
    undefined,
    'a file without packages is of its directory',
  )
  writeFileSync(workspace, 'packages: [packages/*]\n')
  t.equal(settingsFile('pnpm', join(directory, 'packages', 'new')), workspace)
  const manifest = join(directory, 'package.json')
  writeFileSync(manifest, '{}')
  t.equal(settingsFile('npm', join(directory, 'packages')), undefined)
  writeFileSync(manifest, '{ "workspaces": ["./packages/*/", "services/**"] }')
  t.equal(settingsFile('npm', join(directory, 'packages', 'new')), manifest)
  t.equal(settingsFile('npm', join(directory, 'services', 'a', 'new')), manifest)
  t.equal(settingsFile('npm', join(directory, 'other', 'new')), undefined)
  t.equal(settingsFile('npm', join(directory, 'packages', 'new', 'inner')), undefined)
  t.equal(missingSettings('npm', manifest), '"allowScripts": { "esbuild": false }')
  const { npm_config_user_agent: agent } = process.env
  t.teardown(() => {
    delete process.env.npm_config_user_agent
    if (agent !== undefined) process.env.npm_config_user_agent = agent
  })
  for (const [given, manager] of [
    ['pnpm/12.21.0 npm/? node/v24.18.1 linux x64', 'pnpm'],
    ['npm/11.19.1 node/v24.18.1 linux x64 workspaces/false', 'npm'],
  ] as const) {
    process.env.npm_config_user_agent = given
    t.equal(packageManagerOf('/'), manager)
  }
  delete process.env.npm_config_user_agent
  t.equal(packageManagerOf('/'), 'npm')
})

t.test('the settings of pnpm say what those of npm say', async (t) => {
  const { allowBuilds, overrides } = parse(pnpmSettings)
  t.same(allowBuilds, npmSettings.allowScripts)
  t.equal(overrides['light-my-request>cookie'], npmSettings.overrides['light-my-request'].cookie)
})
