/** Where a scenario puts its figures: each is printed on a line of its own. */
export type Report = {
  /** What nothing depends on, with its unit in the name. */
  figure(name: string, value: number | string): void
  /** A figure that must be zero. */
  zero(name: string, value: number): void
  /** A figure that shows that something was tried, or of a control: zero means that the others prove nothing. */
  notZero(name: string, value: number): void
  atMost(name: string, value: number, limit: number): void
  atLeast(name: string, value: number, limit: number): void
  /** The scenario could not run here, for want of this. */
  notRun(want: string): void
  failed: boolean
  ran: boolean
}

/** Takes the name of a scenario; gives its report, which prints as it is filled. */
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
      process.stderr.write(`${scenario} was not run: it needs ${want}\n`)
    },
    failed: false,
    ran: true,
  }
  return report
}
