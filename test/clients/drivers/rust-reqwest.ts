import { readFileSync } from 'node:fs'
import type { Build } from '../driver.ts'
import { rustClient } from './rust.ts'

export const build: Build = (context) =>
  rustClient(context, 'rust-reqwest', readFileSync(new URL('rust/rust_reqwest.rs', import.meta.url), 'utf8'))
