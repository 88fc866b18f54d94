/** A value in cases.json: JSON, and `$int64`, `$date`, `$dateTime`, `$bytes` (Base64), `$file` and `$any`. */
export type Tagged = unknown

/** A call of an operation, and what should arrive and come back. cases.json is a list of these. */
export type Case = {
  operation: string
  case: string
  /** The values of the parameters by their names. */
  arguments?: Record<string, Tagged>
  /** Absent: the call has no body. */
  body?: Tagged
  /** The media type of the body, where the document lists several. */
  mediaType?: string
  /** By the name of the security scheme: a token or a key; for basic, a user name and a password. */
  credentials?: Record<string, string | { username: string; password: string }>
  /** What the handler returns; by default 200 with what it received. */
  reply?: { status?: number; headers?: Record<string, Tagged>; body?: Tagged; contentType?: string; throw?: number }
  /** What differs from what the other members imply: the arguments and the body arrive, and the reply comes back. */
  expected?: { received?: Tagged; status?: number; response?: Tagged }
}

/** The line that a driver prints for a case. A member that the client does not offer is absent. */
export type Line = {
  operation: string
  case: string
  /** False if the client threw before it sent anything. */
  sent: boolean
  /** True if the generated code has no such operation. */
  missing?: boolean
  status?: number
  headers?: Record<string, unknown>
  /** The decoded body, also of an error. An integer may have any number of digits. */
  response?: unknown
  error?: string
}

/** What a driver needs to build its client. */
export type BuildContext = {
  /** An empty directory, or that of the last run with --work. */
  directory: string
  /** The document in YAML, and in JSON with all integers that doubles hold. */
  document: string
  documentJson: string
  /** The same in OpenAPI 3.0, for generators that need it. */
  document30: string
  document30Json: string
  /** The path of cases.json, and its content. */
  casesFile: string
  cases: Case[]
  /** Writes the documents without some operations into the directory, for a generator that one of them breaks. */
  documentsWithout(
    operations: string[],
  ): Pick<BuildContext, 'document' | 'documentJson' | 'document30' | 'document30Json'>
  /** The packages of versions.json for this client. */
  versions: Record<string, string>
  /** Runs a program in the directory, and returns its output; rejects with the output if it fails. */
  run(program: string, args: string[], options?: { env?: NodeJS.ProcessEnv; cwd?: string }): Promise<string>
  /** Installs the npm packages of `versions` in the directory. */
  npmInstall(): Promise<void>
}

/** A client that was built. */
export type Built = {
  /** The program, which gets three more arguments: the cases, the base URL, and the URL of the control server. */
  command: string[]
  env?: NodeJS.ProcessEnv
  /** Operations without code, by their ids, with the reasons. */
  missing?: Record<string, string>
}

/** What a file of drivers/ exports as `build`. Rejects with a NotAvailable if this machine lacks a program. */
export type Build = (context: BuildContext) => Promise<Built>

export class NotAvailable extends Error {}
