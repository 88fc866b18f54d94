/** How a new project runs its TypeScript modules: its command, and the versions of Node.js and of its types. */
export type Runtime = { command: 'node' | 'tsx'; node: string; types: string }

/** Node.js that runs TypeScript by type stripping, without a flag and without a warning. */
const stripping: Runtime = { command: 'node', node: '^22.18.0 || >=24.3.0', types: '^22.18.0' }

/** The oldest Node.js that the engine supports. */
const oldest: Runtime = { command: 'tsx', node: '>=20.19.3', types: '^20.19.43' }

/** The release line of Node.js that an image and a workflow of a project use; it runs TypeScript without tsx. */
export const productionNode = 24

/** Returns how a new project runs if this version of Node.js, such as 24.3.0, creates it. */
export function runtimeFor(version: string): Runtime {
  const [major, minor] = version.split('.').map(Number) as [number, number]
  // Node.js 23 and the first releases of 24 print a warning.
  const stripsTypes = major > 24 || (major === 24 && minor >= 3) || (major === 22 && minor >= 18)
  return stripsTypes ? stripping : oldest
}
