import { writeFileSync, readdirSync } from 'node:fs'
const root = process.cwd()
const P = `${root}/packages/fastify-contract`
const { compileContract, compileDocument } = await import(`${P}/src/compile/compile.ts`); const contractFiles = async (...a: any[]) => (await compileContract(...(a as [string]))).files, filesOf = async (...a: any[]) => (await (compileDocument as any)(...a)).files
const { exampleDocuments, documentWith, operationsOf } = await import(`${P}/test/conformance/example-documents.ts`)
const out: Record<string, unknown> = {}
const folder = 'packages/fastify-contract/test/documents'
const only = process.argv[3]
for (const e of readdirSync(folder, { withFileTypes: true })) {
  const path = e.isDirectory() ? `${folder}/${e.name}/openapi.yaml` : /refused.*yaml$/.test(e.name) ? `${folder}/${e.name}` : undefined
  if (!path) continue
  out[e.name] = await contractFiles(path, `${folder}/redocly.yaml`).catch((x: Error) => x.message)
}
const typesOf = async () => ''
const run = (d: object, n: string) => filesOf(d, n, undefined, typesOf).catch((x: Error) => x.message)
for (const [name, document] of exampleDocuments()) {
  const whole = await run(document, name)
  out[name] = whole
  if (typeof whole !== 'string') continue
  const each: Record<string, unknown> = {}
  for (const operation of operationsOf(document)) {
    const r = await run(documentWith(document, [operation]), name)
    each[JSON.stringify(operation)] = typeof r === 'string' ? r : 'ok'
  }
  out[`${name} operations`] = each
}
writeFileSync(process.argv[2] as string, JSON.stringify(out, null, 1))
