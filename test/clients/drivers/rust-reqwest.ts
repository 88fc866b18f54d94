import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Build } from '../driver.ts'
import { rustClient } from './rust.ts'

export const build: Build = async (context) => {
  mkdirSync(join(context.directory, 'src'), { recursive: true })
  copyFileSync(fileURLToPath(new URL('rust_reqwest.rs', import.meta.url)), join(context.directory, 'src', 'calls.rs'))
  return rustClient(context, 'rust-reqwest', [])
}
