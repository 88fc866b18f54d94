/** Returns whether an error is a refusal of generation: one line for each place, with what to do. */
export const isRejection = (error: unknown): error is Error =>
  error instanceof Error && /^\S+ cannot be served as written:(\n {2}[^\s:].*: .+)+$/.test(error.message)
