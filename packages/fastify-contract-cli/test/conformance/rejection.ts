/** Returns whether generation rejected the document with an explanation: one line for each place, with a fix. */
export const isRejection = (error: unknown): error is Error =>
  error instanceof Error &&
  /^\S+ cannot be served as written:(\n {2}[^\s:].*: .+)+\n\d+ problems? affects? .+$/.test(error.message)
