import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'

/** What each room of src may import of ours, the longest name that fits a file; `types` is import type only. */
const rooms: Record<string, { values: RegExp; types?: RegExp }> = {
  'server.ts': {
    values: /^(config|end|listen|service|workers|management|store\/open)$/,
    types: /^contract\/document$/,
  },
  'service.ts': {
    values: /^(end|listen|log|app|metrics|auth\/[\w-]+|store\/open)$/,
    types: /^(config|contract\/(document|exchange)|management\/pages)$/,
  },
  'workers.ts': { values: /^(end|metrics|workers\/[\w-]+)$/, types: /^(config|contract\/document|service)$/ },
  'workers/': { values: /^(end|service|workers\/[\w-]+)$/, types: /^(config|contract\/document|metrics)$/ },
  'config.ts': { values: /^(variables|auth\/tokens|store\/open)$/, types: /^limits\/limits$/ },
  'variables.ts': { values: /^(auth\/issuer|limits\/limits|store\/open)$/ },
  'end.ts': { values: /^$/ },
  'listen.ts': { values: /^$/ },
  'log.ts': { values: /^$/, types: /^(contract\/exchange|limits\/overload)$/ },
  'app.ts': { values: /^(handlers|contract\/\w+|auth\/\w+|limits\/[\w-]+)$/, types: /^(contract|auth|store)\// },
  'handlers.ts': { values: /^$/, types: /^(contract\/operations|store\/plant-store)$/ },
  'metrics.ts': { values: /^(metrics\/|contract\/errors$)/, types: /^(contract\/exchange|limits\/overload)$/ },
  'metrics/': { values: /^$/, types: /^store\/group-commit$/ },
  'management.ts': { values: /^management\// },
  'management/': { values: /^management\//, types: /^contract\/document$/ },
  'contract/': { values: /^contract\//, types: /^(contract\/|\.\.\/generated\/api\.d$)/ },
  // Whatever it imports is sent to browsers.
  'client/': {
    values: /^(client\/|contract\/(json|exact-integer)$|\.\.\/generated\/int64-replies\.json$)/,
    types: /^\.\.\/generated\/api\.d$/,
  },
  'cli/': { values: /^(cli\/|auth\/|server$|\.\.\/package\.json$)/, types: /^auth\// },
  'auth/': {
    values: /^(contract\/(errors|exchange|json)$|auth\/)/,
    types: /^(contract\/security$|limits\/rate-limit$|auth\/)/,
  },
  'limits/': { values: /^(contract\/errors$|limits\/)/ },
  'store/': { values: /^store\/(?!plant-store)/, types: /^(store\/plant-store|\.\.\/generated\/api\.d$)/ },
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const imports = /import\s+(type\s)?[^'"]*?from '(\.[^']+)'|import\('(\.[^']+)'\)/g

const graph = new Map(
  files.map((file) => {
    const text = readFileSync(join('src', file), 'utf8')
    const found = Array.from(text.matchAll(imports), ([, type, from, dynamic]) => ({
      type: type !== undefined,
      to: relative('src', join('src', file, '..', from ?? (dynamic as string))).replace(/\.ts$/, ''),
    }))
    return [file.replace(/\.ts$/, ''), found] as const
  }),
)

t.test('imports go one way', async (t) => {
  for (const [file, found] of graph) {
    const [, room] = Object.entries(rooms).find(([name]) => `${file}.ts`.startsWith(name)) ?? []
    t.ok(room, `${file} has a room`)
    for (const { type, to } of found) {
      t.ok(room?.values.test(to) || (type && room?.types?.test(to)), `${file} may import ${type ? 'type ' : ''}${to}`)
    }
  }
})

t.test('what verifies JSON Web Tokens is loaded only when they are configured', async (t) => {
  for (const file of files)
    t.notMatch(readFileSync(join('src', file), 'utf8'), /import (?!type ).* from '.*\/jwt\.ts'/, file)
})

t.test('no imports in a circle', async (t) => {
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) t.fail([...path, file].join(' -> '))
    else for (const { to } of graph.get(file) ?? []) visit(to, [...path, file])
  }
  for (const file of graph.keys()) visit(file, [])
  t.pass()
})

t.test('files stay short', async (t) => {
  for (const file of files) {
    const lines = readFileSync(join('src', file), 'utf8').split('\n').length
    t.ok(lines <= 151, `${file} has ${lines} lines`)
  }
})
