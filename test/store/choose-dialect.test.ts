import t from 'tap'
import { chooseDialect, ownDialect, portableDialect } from '../../src/store/postgres/postgres-dialects.ts'

const postgres = [
  'PostgreSQL 18.4 on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit',
  'PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit',
  'PostgreSQL 19beta1 on aarch64-apple-darwin, compiled by Apple clang version 16.0.0, 64-bit',
  'PostgreSQL 20devel on x86_64-linux, compiled by gcc-14.2.0, 64-bit',
  'PostgreSQL 16.1, compiled by Visual C++ build 1937, 64-bit',
]

const others = [
  'PostgreSQL 14.1',
  'PostgreSQL 16',
  'PostgreSQL 15.2-YB-2.25.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6, 64-bit',
  'CockroachDB CCL v25.2.0 (x86_64-pc-linux-gnu, built 2025/05/09 19:11:20, go1.23.7 X:nocoverageredesign)',
  '',
]

for (const [dialect, name, versions] of [
  [ownDialect, 'the own', postgres],
  [portableDialect, 'the portable', others],
] as const) {
  for (const version of versions) {
    t.test(`a server that says "${version}" gets ${name} dialect`, async (t) => {
      const query = async (text: string) => {
        t.equal(text, 'SELECT version()', 'PGAdapter supports only this spelling')
        return [{ version }] as never
      }
      t.equal(await chooseDialect(query), dialect)
    })
  }
}

t.test('a server without a version gets the portable dialect', async (t) => {
  t.equal(await chooseDialect(async () => []), portableDialect)
})
