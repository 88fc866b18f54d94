import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Engine, runCommand } from './engine.ts'

/**
 * Provides a base image, such as node:24-trixie-slim: the one that is there, or that of a registry. Where no registry of
 * images is reached, makes an image of that name from packages of Debian and npm.
 */
export async function provideImage(engine: Engine, image: string, directory: string): Promise<void> {
  if (await succeeds(engine.run(['image', 'inspect', image]))) return
  const name = `docker.io/library/${image}`
  if (await succeeds(engine.run(['pull', name]))) return
  const [, version = '', release = ''] = /^node:([\d.]+)-([a-z]+)-slim$/.exec(image) ?? []
  mkdirSync(directory, { recursive: true })
  // Without this, npm does not run the script that brings the program.
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }))
  await runCommand(['npm', 'install', '--no-save', `node@${version}`, 'npm'], directory)
  const include = '--include=ca-certificates,libstdc++6'
  await runCommand(['mmdebstrap', '--variant=essential', include, release, join(directory, 'root.tar')])
  writeFileSync(join(directory, 'Dockerfile'), dockerfile)
  await engine.run(['build', '--tag', name, directory])
}

const dockerfile = `FROM scratch
ADD root.tar /
COPY node_modules/node/bin/node /usr/local/bin/node
COPY node_modules/npm /usr/local/lib/node_modules/npm
RUN cd /usr/local/bin && ln -s ../lib/node_modules/npm/bin/npm-cli.js npm && ln -s ../lib/node_modules/npm/bin/npx-cli.js npx
`

const succeeds = (running: Promise<unknown>): Promise<boolean> =>
  running.then(
    () => true,
    () => false,
  )
