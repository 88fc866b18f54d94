import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from 'fastify-contract-test-support/free-port'

/** A text of a project that changes while `fastify-contract dev` runs. */
export type Edit = {
  /** The path of the file in the project. */
  file: string
  /** Matches the text to replace. */
  from: RegExp
  /** Returns the text that replaces it at a save. It differs for each save. */
  to: (save: number) => string
  /** The path of the response that contains that text, on the service or on its admin server. */
  path: string
  server: 'service' | 'admin'
}

/** Changes the title of a book that a handler in the sample of `init` returns. */
export const handlerOfSample: Edit = {
  file: join('src', 'handlers.ts'),
  from: /Emma/g,
  to: (save) => `Emma ${save}`,
  path: '/books/emma',
  server: 'service',
}

/** Changes the version of the sample of `init`, which the metrics show. */
export const documentOfSample: Edit = {
  file: 'openapi.yaml',
  from: /(?<=version: )1\.0\.0/,
  to: (save) => `1.0.${save + 1}`,
  path: '/metrics',
  server: 'admin',
}

/** Returns a change of the version of a document in a file, which the metrics show. */
export const versionIn = (file: string): Edit => ({
  file,
  from: /(?<=\bversion"?: *["']?)\d+(\.\d+)*(?=["']?,?\n)/,
  to: (save) => `9.0.${save}`,
  path: '/metrics',
  server: 'admin',
})

/** The deadline for each new answer, in milliseconds. */
const limit = 120_000
const token = 'Zk3v9QxT7bLm2RwYc8NsHd5PfJ6aGtUe0BiV'

/**
 * Runs `fastify-contract dev` in a project and saves files in turns.
 *
 * @param command The command and its arguments, such as node_modules/.bin/fastify-contract dev.
 * @param saves How often each file is saved; the first save is not measured.
 * @param given The environment of the command.
 * @param pause Milliseconds between an answer and the next save.
 * @returns For each edit, the milliseconds from each save to the first answer that shows it.
 */
export async function devLatencies(
  directory: string,
  command: string[],
  edits: Edit[],
  saves: number,
  given = process.env,
  pause = 2_000,
): Promise<number[][]> {
  const ports = { service: await freePort(), admin: await freePort() }
  const [program = '', ...args] = command
  const dev = spawn(program, args, {
    cwd: directory,
    env: {
      ...given,
      ACCESS_TOKENS: token,
      PORT: String(ports.service),
      MANAGEMENT_PORT: String(ports.admin),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const texts = new Map(edits.map(({ file }) => [file, readFileSync(join(directory, file), 'utf8')]))
  try {
    for (const edit of edits) await untilShown(edit, (textOf(edit).match(edit.from) as RegExpMatchArray)[0])
    const times: number[][] = edits.map(() => [])
    for (let save = 0; save < saves; save++) {
      for (const [index, edit] of edits.entries()) {
        await sleep(pause)
        const path = join(directory, edit.file)
        const start = performance.now()
        writeFileSync(path, textOf(edit).replace(edit.from, edit.to(save)))
        await untilShown(edit, edit.to(save))
        if (save > 0) times[index]?.push(performance.now() - start)
      }
    }
    return times
  } finally {
    dev.kill('SIGINT')
    await once(dev, 'exit')
    for (const [file, text] of texts) writeFileSync(join(directory, file), text)
  }

  function textOf({ file }: Edit): string {
    return texts.get(file) as string
  }

  async function untilShown({ path, server }: Edit, shown: string): Promise<void> {
    const start = performance.now()
    const headers = { authorization: `Bearer ${token}`, connection: 'close' }
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${ports[server]}${path}`, { headers }).catch(() => undefined)
      if ((await response?.text().catch(() => undefined))?.includes(shown)) return
      if (dev.exitCode !== null) throw new Error(`dev ended with exit code ${dev.exitCode}`)
      if (performance.now() - start > limit) throw new Error(`${path} does not show ${shown} within ${limit} ms`)
      await sleep(5)
    }
  }
}
