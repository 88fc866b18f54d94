import { text } from 'node:stream/consumers'
import t from 'tap'

const { default: FileReporter } = await import(import.meta.resolve('../src/file-reporter.js'))

const run = `TAP version 14
# Subtest: a.test.ts
    # Subtest: a title
        ok 1 - é
        not ok 2 - should be equal
          ---
          diff: |
            -not ok 1
        
            +ok 2
          ...
        ok 3 - the next one
        not ok 4 - without diagnostics
        ok 5 - after it
        1..5
    not ok 1 - a title # time=2ms
    
    ok 2 - a program # SKIP NOT RUN: nginx is not installed
    1..2
not ok 1 - a.test.ts # time=3ms

# Subtest: b.test.ts
    ok 1 - should be equal
    1..1
ok 2 - b.test.ts # time=1ms

1..2
# { total: 7, pass: 4 }`

const printed = `TAP version 14
        not ok 2 - should be equal
          ---
          diff: |
            -not ok 1
        
            +ok 2
          ...
        not ok 4 - without diagnostics
    not ok 1 - a title # time=2ms
    ok 2 - a program # SKIP NOT RUN: nginx is not installed
not ok 1 - a.test.ts # time=3ms
ok 2 - b.test.ts # time=1ms
1..2
# { total: 7, pass: 4 }`

t.test('the reporter prints files, failures with diagnostics, and skipped tests, wherever chunks end', async (t) => {
  const bytes = Buffer.from(run)
  for (const size of [1, 7, 1000]) {
    const reporter = new FileReporter()
    for (let start = 0; start < bytes.length; start += size) reporter.write(bytes.subarray(start, start + size))
    reporter.end()
    t.equal(await text(reporter), printed, `chunks of ${size} bytes`)
  }
})
