/** The reason why tests of servers skip QUERY, or false: Node 20.19.2 parses the method, but gives the request none. */
export const querySkipReason = process.version === 'v20.19.2' && 'NOT RUN: Node 20.19.2 gives a QUERY no method'
