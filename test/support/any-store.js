/** Returns a store that has the members which a test names; each other function of a store resolves with nothing. */
export const anyStore = (members) =>
  new Proxy(members, { get: (store, name) => (name in store || isNoFunction(name) ? store[name] : async () => {}) })

/** A store may have no failure, and is no promise. */
const isNoFunction = (name) => name === 'failure' || name === 'then'
