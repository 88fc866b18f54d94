/**
 * Returns a pattern for exactly this text. tap compares strings by substring in t.match, and in the expected error of
 * t.throws and t.rejects.
 */
export const exactly = (text: string): RegExp => new RegExp(`^${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`)

/** Returns the expected UsageError with exactly this message. */
export const usageError = (message: string) => ({ name: /^UsageError$/, message: exactly(message) })
