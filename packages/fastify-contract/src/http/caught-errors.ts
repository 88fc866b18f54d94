/** Gets an error that a function of the application has thrown. */
type Report = (thrown: unknown) => void

/**
 * Passes the error of a rejected promise to `report`. The functions of an application that return nothing may be
 * asynchronous all the same, and an unhandled rejection would end the process.
 */
export function catchRejection(returned: unknown, report: Report): void {
  if (returned instanceof Promise) returned.catch(report)
}

/** Calls a function of the application in a listener, where an error would end the process; passes it to `report`. */
export function callSafely(call: () => unknown, report: Report): void {
  try {
    catchRejection(call(), report)
  } catch (thrown) {
    report(thrown)
  }
}
