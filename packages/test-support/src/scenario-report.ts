/** Collects the figures of a scenario and prints each on a line. */
export type Report = {
  /** Prints a figure without a limit; the name includes the unit. */
  figure(name: string, value: number | string): void
  /** Requires zero. */
  zero(name: string, value: number): void
  /** Requires more than zero: for controls, and for evidence that the scenario exercised what it tests. */
  notZero(name: string, value: number): void
  atMost(name: string, value: number, limit: number): void
  atLeast(name: string, value: number, limit: number): void
  /** Records that the scenario did not run, because this machine lacks something. */
  notRun(want: string): void
  failed: boolean
  ran: boolean
}

/** Creates the report of a scenario; each call prints immediately. */
export function newReport(scenario: string): Report {
  const print = (name: string, value: number | string, remark = '') =>
    process.stdout.write(
      `${scenario.padEnd(17)} ${name.padEnd(46)} ${String(value).padStart(9)} ${remark}`.trimEnd().concat('\n'),
    )
  const judge = (name: string, value: number, isRight: boolean, rule: string) => {
    if (!isRight) report.failed = true
    print(name, value, isRight ? rule : `${rule}: FAILED`)
  }
  const report: Report = {
    figure: (name, value) => print(name, value),
    zero: (name, value) => judge(name, value, value === 0, 'must be 0'),
    notZero: (name, value) => judge(name, value, value > 0, 'must not be 0'),
    atMost: (name, value, limit) => judge(name, value, value <= limit, `must be at most ${limit}`),
    atLeast: (name, value, limit) => judge(name, value, value >= limit, `must be at least ${limit}`),
    notRun(want) {
      report.ran = false
      print(`not run: needs ${want}`, '')
      process.stderr.write(`${scenario} did not run: it needs ${want}\n`)
    },
    failed: false,
    ran: true,
  }
  return report
}
