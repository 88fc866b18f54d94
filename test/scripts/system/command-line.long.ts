import { readFileSync } from 'node:fs'
import { run } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { commandLine, parseCommandLine } from '../../../scripts/system/command-line.ts'

const defaults = { rounds: 200, cores: [1, 2], load: 0.7, store: undefined, out: 'dist', check: false }
const parse = (...args: string[]) => parseCommandLine(args, defaults, ['kill', 'fsync'])

t.test('options have the type of their default, and only known words are accepted', async (t) => {
  t.same(parse(), { isHelp: false, options: defaults, words: [] })
  t.same(parse('fsync', '--rounds=3', '--load', '2', '--store=memory:', '--cores=4,8', '--check'), {
    isHelp: false,
    options: { rounds: 3, cores: [4, 8], load: 2, store: 'memory:', out: 'dist', check: true },
    words: ['fsync'],
  })
  t.match(parse('-h'), { isHelp: true })
})

t.test('an invalid command line is rejected with the allowed options', async (t) => {
  const expected = 'expected kill, fsync, --rounds, --cores, --load, --store, --out, --check, --help'
  const refusals: [string[], string][] = [
    [['--round=3'], `unexpected option '--round'; ${expected}`],
    [['--constructor'], `unexpected option '--constructor'; ${expected}`],
    [['fsync', 'toString'], `unexpected argument 'toString'; ${expected}`],
    ...['0', '1.5', 'x', ''].map((value): [string[], string] => [
      [`--rounds=${value}`],
      `--rounds is "${value}"; expected an integer from 1`,
    ]),
    [['--load=Infinity'], '--load is "Infinity"; expected a number above 0'],
    [['--load=0'], '--load is "0"; expected a number above 0'],
    ...['', '1,', '1,0', '1;2'].map((value): [string[], string] => [
      [`--cores=${value}`],
      `--cores is "${value}"; expected integers from 1, with commas between them`,
    ]),
  ]
  for (const [args, message] of refusals) t.throws(() => parse(...args), { name: 'UsageError', message })
  t.throws(() => parseCommandLine(['kill'], {}, []), { message: "unexpected argument 'kill'; expected --help" })
  const words = (...args: string[]) => parseCommandLine(args, {}, ['list', 'FILE']).words
  t.same([words('a'), words('list', 'a'), words('list', 'list')], [['a'], ['list', 'a'], ['list', 'list']])
  t.throws(() => words('a', 'b'), { message: "unexpected argument 'b'; expected list, FILE, --help" })
  t.throws(() => commandLine('npm run a [-- --rounds 200]', defaults), {
    message: /--cores, --load, --store, --out, --check; add them$/,
  })
})

/** The module of the command of the package. */
const engine = 'packages/fastify-contract-cli/src/cli.ts'

t.test('every command has a help text and rejects unknown options', async (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const commands = Object.entries<string>(scripts).flatMap(([name, command]) => {
    const [, module = ''] = /^tsx (?:scripts\/system\/run-command\.ts )?(\S+)/.exec(command) ?? []
    if (module === '' || name.startsWith('pre')) return []
    const isOfPackage = module === engine
    return [
      {
        module: isOfPackage ? engine.replace('.ts', `/${name}.ts`) : module,
        usage: isOfPackage ? `fastify-contract ${name}` : `npm run ${name}`,
      },
    ]
  })
  // A part with options of its own, such as speed, is one of these commands.
  const nightly = readFileSync('.ci/nightly', 'utf8').matchAll(/(\w+)\) tsx (\S+) "\$/g)
  for (const [, name, module = ''] of nightly) commands.push({ module, usage: `.ci/nightly ${name}` })
  for (const module of ['scripts/sbom.ts', 'test/distributed/cassandra.ts'])
    commands.push({ module, usage: `npx tsx ${module}` })
  t.ok(commands.length >= 15)
  // Reads the help from the source, because a process for each command would take a minute of CPU.
  const ownHelp = ['src/cli/main.ts', 'scripts/init.ts', 'scripts/test-node.ts']
  for (const { module, usage } of commands.filter(({ module }) => !ownHelp.includes(module))) {
    const text = readFileSync(module, 'utf8')
    const [, help = ''] = /^ *(?:const .* = )?commandLine\(\s*`(.*?)\n`/ms.exec(text) ?? []
    t.match(help, new RegExp(`^${usage}( \\[.*)?\\n( +\\[.*\\n)*\\n[A-Z]`), usage)
    t.notMatch(help.replaceAll(/\$\{\w+\}/g, ''), /.{121}/, usage)
  }
  for (const [module, args, code, stdout, stderr] of [
    [
      engine,
      ['docs', '--port=1'],
      2,
      /^$/,
      /^docs: unexpected option '--port'; expected DOCUMENT, --serve, --out, .*--client, --help\n$/,
    ],
    [engine, ['--help'], 0, /^fastify-contract COMMAND [\s\S]*\ngenerate +writes/, /^$/],
    [engine, [], 0, /^fastify-contract COMMAND /, /^$/],
    [engine, ['--version'], 0, /^\d+\.\d+\.\d+\n$/, /^$/],
    [engine, ['generate', 'none.yaml'], 1, /^$/, /^none\.yaml does not exist; name an OpenAPI document\n$/],
    [engine, ['toString'], 2, /^$/, /^fastify-contract: unknown command 'toString'; expected .*, generate, .*, dev\n$/],
    ['test/edge/edge-scenarios.ts', ['--help'], 0, /^\.ci\/nightly edge (.*\n)*\n(.*\n)*revocation +.*\n$/, /^$/],
    ['scripts/test-node.ts', ['--help'], 0, /^npx tsx scripts\/test-node\.ts .*\n\nRuns the tests/, /^$/],
    [engine, ['dev', '-h'], 0, /^fastify-contract dev [\s\S]*\n\nRuns the service/, /^$/],
  ] as const)
    t.match(await run(t, module, {}, [...args]).ended, { code, stdout, stderr })
})
