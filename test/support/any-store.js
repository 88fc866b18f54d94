/** Returns a store with the given members; every other method resolves with undefined. */
export const anyStore = (members) =>
  new Proxy(members, { get: (store, name) => (name in store || isNoFunction(name) ? store[name] : async () => {}) })

/** `failure` is optional, and a `then` would make the store a promise. */
const isNoFunction = (name) => name === 'failure' || name === 'then'
