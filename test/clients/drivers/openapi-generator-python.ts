import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Build } from '../driver.ts'
import { generateClient } from '../openapi-generator.ts'
import { installPackages, pythonClient } from './python.ts'
import { generateWhatCompiles, type Place } from './what-compiles.ts'

/** Prints a line of JSON for each file with a mistake. */
const compile = `import ast, json, pathlib
for file in sorted(pathlib.Path("generated").rglob("*.py")):
    try:
        ast.parse(file.read_text("utf-8"))
    except SyntaxError as error:
        message = f"SyntaxError: {error.text.strip()}"
        print(json.dumps({"file": str(file.resolve()), "line": error.lineno, "message": message}))
`

export const build: Build = async (context) => {
  const python = await installPackages(context)
  writeFileSync(join(context.directory, 'compile.py'), compile)
  const missing = await generateWhatCompiles(
    context,
    (reduced) => generateClient(reduced, 'python', 'generated', ['--global-property=apiTests=false,modelTests=false']),
    async () => {
      const lines = (await context.run(python, ['compile.py'])).split('\n').filter((line) => line.startsWith('{'))
      return lines.map((line) => JSON.parse(line) as Place)
    },
    /^ {4}def ([a-z]\w*?)(?:_with_http_info|_without_preload_content)?\($/,
  )
  const client = await pythonClient(context, 'openapi_generator_python', python)
  return { ...client, env: { ...client.env, PYTHONPATH: 'generated' }, missing }
}
