/**
 * Returns what precedes the paths of a document that a server serves below a prefix, as the engine does it for several
 * documents: nothing if all paths begin with the prefix already, as those of a server `https://pets.example/v1` below `/v1`.
 */
export const addedPrefix = (paths: string[], prefix: string): string =>
  prefix === '' || paths.every((path) => path.startsWith(`${prefix}/`)) ? '' : prefix
