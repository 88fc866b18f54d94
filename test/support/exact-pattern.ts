/**
 * Returns a pattern for exactly this text. tap compares a text with a part of another: in t.match, and in the members of
 * an error that t.throws and t.rejects are given.
 */
export const exactly = (text: string): RegExp => new RegExp(`^${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`)

/** A pattern for the UsageError of this message. */
export const usageError = (message: string) => ({ name: /^UsageError$/, message: exactly(message) })
