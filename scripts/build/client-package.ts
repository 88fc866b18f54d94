import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundleClient } from './bundle.ts'
import { writeDeclarations } from './declarations.ts'

const name = 'plant-store-client'

/** Writes the client into a directory as a package without dependencies: its module, its types and a README. */
export async function writeClientPackage(directory = join('dist', 'client')): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  const { version, license, private: isPrivate, engines } = JSON.parse(await readFile('package.json', 'utf8'))
  const manifest = {
    name,
    version,
    description: 'The typed client of the plant store service, exact for every int64.',
    license,
    private: isPrivate,
    type: 'module',
    sideEffects: false,
    exports: { types: './types/src/client.d.ts', default: './client.js' },
    files: ['client.js', 'types'],
    engines,
  }
  await Promise.all([
    bundleClient(directory),
    writeDeclarations(join(directory, 'types'), ['src/client.ts']),
    writeFile(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`),
    writeFile(join(directory, 'README.md'), readmeOf(await readFile(join('docs', 'getting-started.md'), 'utf8'))),
    copyFile('LICENSE', join(directory, 'LICENSE')),
  ])
}

/** Returns a README with the section "Use the client" of the page, without its last paragraph, which is on packages. */
function readmeOf(page: string): string {
  const [, section = ''] = /^## Use the client\n\n(.*)\n\n[^\n]+(?:\n[^\n]+)*\n$/ms.exec(page) ?? []
  return `# Plant store client\n\n${section.replaceAll('plant-store/client', name)}\n`
}
