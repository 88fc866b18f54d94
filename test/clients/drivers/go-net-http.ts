import type { Build } from '../driver.ts'
import { compileDriver, writeModule } from './go.ts'

export const build: Build = async (context) => {
  await writeModule(context, [])
  return compileDriver(context, ['values.go', 'raw_body.go', 'net_http.go'])
}
