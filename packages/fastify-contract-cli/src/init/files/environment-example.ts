import type { Compiled } from '../../emit/compile.ts'
import type { Project } from '../project.ts'

/** The variables with the sources of tokens. */
const tokens = `# Tokens, with commas between them, each of at least 128 bits: openssl rand -base64 32
# Without a source of tokens, the service creates a token at each start, but does not start on another HOST than 127.0.0.1.
# ACCESS_TOKENS=

# A file with digests of tokens, which may change while the service runs.
# TOKENS_FILE=tokens.json

# The issuer of JSON Web Tokens, and their audience.
# JWT_ISSUER=https://issuer.example
# JWT_AUDIENCE=

`

/** Returns whether an operation requires credentials, so that the service needs a source of tokens. */
export const isSecured = ({ routes }: Compiled): boolean =>
  routes.operations.some(({ security }) => security.some((one) => Object.keys(one).length > 0))

/**
 * Returns the .env.example of a new project: the variables that matter first, with their defaults. Neither quotes nor
 * comments follow a value, because docker run --env-file would keep them.
 */
export function environmentExample({ compiled }: Project): string {
  return `# Copy this file to .env, which Git ignores. Variables of the environment have precedence over it.
# All variables: node_modules/fastify-contract/docs/configuration.md

# The address and the port of the service. In a container, HOST is 0.0.0.0.
# HOST=127.0.0.1
# PORT=3000

# The admin server, without authentication: /livez, /readyz, /metrics and /docs.
# MANAGEMENT_HOST=127.0.0.1
# MANAGEMENT_PORT=3001

${isSecured(compiled) ? tokens : ''}# Proxies whose X-Forwarded-For is trusted, and origins of pages that may call the service.
# TRUST_PROXY=10.0.0.0/8
# CORS_ORIGINS=https://app.example

# fatal, error, warn, info, debug or silent; json, pretty or auto: pretty on a terminal.
# LOG_LEVEL=info
# LOG_FORMAT=auto

# Requests of one client per minute; 0 means no limit.
# REQUESTS_PER_MINUTE=0

# Bytes of a body, and milliseconds of a handler.
# BODY_LIMIT=262144
# HANDLER_TIMEOUT=10000

# Milliseconds after SIGTERM: new requests are accepted, and the process ends at the latest.
# DRAIN_TIME=5000
# DRAIN_DEADLINE=30000
`
}
