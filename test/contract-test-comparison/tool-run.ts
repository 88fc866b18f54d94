/** A failure that a tool reports. Runs with and without a fault compare the keys. */
export type Finding = {
  /** The operation and the check. */
  key: string
  /** The number of requests until then, and the seconds since the start of the process. */
  requests: number
  seconds: number
  text: string
}

/** What a tool did in a run, and whether it was ended at its bound. */
export type ToolRun = { findings: Finding[]; requests: number; seconds: number; isBounded: boolean }

/** A running service, its document, and its credentials as headers and as variables of the environment. */
export type TestedService = {
  url: string
  document: string
  headers: Record<string, string>
  variables: Record<string, string>
  seed: number
  signal: AbortSignal
}

/** How a tool tests a running service. */
export type Tool = {
  name: string
  /** A full mode takes long, so that it may have fewer seeds. */
  seeds: number[]
  run(target: TestedService): Promise<ToolRun>
}
