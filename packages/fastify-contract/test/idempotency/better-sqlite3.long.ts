import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { type Driver, testDriver } from './sqlite-drivers.ts'

/** Version 13 contains its programs, and needs Node 22.14. Version 12 may have to compile them for a minute. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const release = `better-sqlite3@${major > 22 || (major === 22 && minor >= 14) ? '13.2.0' : '12.11.1'}`

/** Milliseconds for a compilation on a slow machine. */
const installTime = 600_000

const directory = await mkdtemp(join(tmpdir(), 'better-sqlite3-'))
t.teardown(() => rm(directory, { recursive: true, force: true }))
const install = ['npm', 'install', '--prefix', directory, '--no-audit', '--no-fund', release]
const { code, stderr } = await spawnProcess(install).untilEnded(installTime)
const driver: Driver | undefined = code === 0 ? createRequire(join(directory, 'index.js'))('better-sqlite3') : undefined

testDriver(release, driver, `NOT RUN: ${release} was not installed: ${stderr}`)
