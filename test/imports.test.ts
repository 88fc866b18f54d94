import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import t from 'tap'

/** The allowed imports of each folder and file of src, as paths in src without extension. `types` are type-only. */
const rooms: Record<string, { values: RegExp; types?: RegExp }> = {
  'server.ts': { values: /^((config|process|admin)\/|store\/open$|openapi\/load-contract$)/ },
  'app.ts': { values: /^(handlers$|error-body$|(openapi|http|auth|limits)\/)/, types: /^store\/plant-store$/ },
  'handlers.ts': {
    values: /^\.\.\/generated\/error-numbers$/,
    types: /^(openapi\/handler-types|store\/plant-store|\.\.\/generated\/api\.d)$/,
  },
  'error-body.ts': { values: /^$/, types: /^openapi\/error-types$/ },
  'json/': { values: /^json\// },
  'http/': { values: /^((http|json)\/|\.\.\/generated\/error-numbers$)/ },
  'openapi/': {
    values: /^((openapi|http|json)\/|\.\.\/generated\/digests\.json$)/,
    types: /^\.\.\/generated\/api\.d$/,
  },
  'auth/': { values: /^(auth|http|json)\//, types: /^(openapi\/security|limits\/rate-limit)$/ },
  'limits/': { values: /^(limits|http)\// },
  // A store imports only stores, so that a change of the HTTP interface never changes a store.
  'store/': { values: /^store\/(?!plant-store)/, types: /^store\/plant-store$/ },
  'observability/': {
    values: /^observability\//,
    types: /^(http\/(errors|request-context)|limits\/load-shedding|store\/(group-commit|sqlite))$/,
  },
  'admin/': { values: /^admin\//, types: /^openapi\/load-contract$/ },
  'process/': {
    values:
      /^(process\/|app$|observability\/|auth\/(token-verifier|tokens)$|limits\/rate-limit$|openapi\/security$|store\/open$)/,
    types: /^(config\/read-config|openapi\/routes|http\/request-context|admin\/pages)$/,
  },
  'config/': { values: /^(config\/|auth\/(tokens|issuer)$|limits\/limits$|store\/open$)/ },
  // Browsers download everything that the client imports.
  'client/': {
    values: /^((client|json)\/|\.\.\/generated\/(int64-replies|call-styles)\.json$)/,
    types: /^\.\.\/generated\/api\.d$/,
  },
  'cli/': {
    values:
      /^((cli|auth|json)\/|store\/(?!plant-store)|config\/read-config$|openapi\/validator$|handlers$|server$|\.\.\/package\.json$|\.\.\/generated\/routes\.json$)/,
    types: /^(auth\/|openapi\/routes$|store\/plant-store$|\.\.\/generated\/api\.d$)/,
  },
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
    t.ok(room, `${file} has an entry in the table above`)
    for (const { type, to } of found) {
      t.ok(room?.values.test(to) || (type && room?.types?.test(to)), `${file} may import ${type ? 'type ' : ''}${to}`)
    }
  }
})

t.test('the JWT verifier is loaded only when JWT is configured', async (t) => {
  for (const file of files)
    t.notMatch(readFileSync(join('src', file), 'utf8'), /import (?!type ).* from '.*\/jwt\.ts'/, file)
})

t.test('there are no circular imports', async (t) => {
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) t.fail([...path, file].join(' -> '))
    else for (const { to } of graph.get(file) ?? []) visit(to, [...path, file])
  }
  for (const file of graph.keys()) visit(file, [])
  t.pass()
})

t.test('file names and exported names are unique', async (t) => {
  const exported = /^export (?:async )?(?:function|const|let|type|class) (\w+)/gm
  const names = files.flatMap((file) => [
    basename(file),
    ...Array.from(readFileSync(join('src', file), 'utf8').matchAll(exported), ([, name]) => name as string),
  ])
  t.same(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
})

t.test('files have at most 400 lines', async (t) => {
  for (const file of files) {
    const lines = readFileSync(join('src', file), 'utf8').split('\n').length
    t.ok(lines <= 401, `${file} has ${lines} lines`)
  }
})
