import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import type { Test } from 'tap'
import { of, readDockerfile, type Stage } from './dockerfile.ts'

/**
 * Builds the image in a directory, without a container engine. Each stage gets a directory as its root; COPY and RUN
 * are executed, except that a link to node_modules replaces `npm ci`. Returns the directory of the last stage, which is
 * read-only except for data/; removed when the test ends.
 */
export function buildImageDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-image-'))
  t.teardown(() => execFileSync('chmod', ['-R', 'u+w', directory]) && rmSync(directory, { recursive: true }))
  // The service's user must be able to enter the directory.
  chmodSync(directory, 0o755)
  for (const [index, stage] of readDockerfile().entries()) layStage(directory, stage.name ?? String(index), stage)
  const root = join(directory, String(readDockerfile().length - 1))
  execFileSync('chmod', ['-R', 'a-w', root])
  return root
}

function layStage(directory: string, name: string, stage: Stage): void {
  const root = join(directory, name)
  const [workdir = '/'] = of(stage, 'WORKDIR')
  const cwd = join(root, workdir)
  mkdirSync(cwd, { recursive: true })
  for (const { name, flags, rest } of stage.instructions) {
    if (name === 'COPY') {
      const paths = rest.split(/\s+/)
      const target = paths.pop() as string
      const from = flags.from === undefined ? resolve() : join(directory, flags.from)
      for (const path of paths) copy(join(from, path), target.startsWith('/') ? join(root, target) : join(cwd, target))
    } else if (name === 'RUN' && rest === 'npm ci') {
      symlinkSync(resolve('node_modules'), join(cwd, 'node_modules'))
    } else if (name === 'RUN') {
      execFileSync('sh', ['-c', rest.replace(/(?<= )\//g, `${root}/`)], { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
    }
  }
}

/** Copies a directory's content, or a file into a target that ends with a slash (docs.docker.com, COPY). */
function copy(source: string, target: string): void {
  const into = statSync(source).isFile() && target.endsWith('/')
  cpSync(source, into ? join(target, basename(source)) : target, {
    recursive: true,
    dereference: true,
    filter: (path) => basename(path) !== 'node_modules',
  })
}
