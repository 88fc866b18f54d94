import { installation, setupOf } from '../package-manager.ts'
import { packageName } from '../package-name.ts'
import type { Project } from '../project.ts'
import { productionNode } from '../runtime.ts'

const caches = { npm: '/root/.npm', pnpm: '/root/.local/share/pnpm/store' }

/** Returns the Dockerfile of a new project. It has no text of the document. */
export function dockerfile({ compiled, packages, manager }: Project): string {
  const { lock, all, production } = installation[manager]
  const manifests = ['package.json', lock, ...(manager === 'pnpm' ? ['pnpm-workspace.yaml'] : [])]
  const image = `node:${productionNode}-trixie-slim`
  const { dependencies, devDependencies } = packages
  // Packages of the project itself, in vendor/.
  const hasFiles = Object.values({ ...dependencies, ...devDependencies }).some((version) => version.startsWith('file:'))
  const first = [
    ...setupOf(manager).map((command) => `RUN ${command}`),
    `COPY ${manifests.join(' ')} ./`,
    ...(hasFiles ? ['COPY vendor vendor'] : []),
  ]
  const run = `RUN --mount=type=cache,target=${caches[manager]}`
  return `# The build needs ${lock}, which ${manager} install writes:
#   docker build --tag ${packageName(compiled.routes.info.title)} .
# A tag moves to newer images. To pin one, add its digest to each: ${image}@sha256:DIGEST.
FROM ${image} AS manifests
WORKDIR /service
${first.join('\n')}

FROM manifests AS production
${run} ${production}

FROM manifests AS build
${run} ${all}
COPY . .
# Fails if generated/ is out of date. The modes of the checkout may deny other users.
RUN ${manager} run docs && chmod -R a+rX package.json src generated dist

FROM ${image}
WORKDIR /service
COPY --from=production /service/node_modules node_modules
COPY --from=build /service/package.json ./
COPY --from=build /service/dist/docs dist/docs
COPY --from=build /service/generated generated
COPY --from=build /service/src src
# All addresses of the container. If operations require tokens, ACCESS_TOKENS, TOKENS_FILE or JWT_ISSUER must be set, too.
ENV NODE_ENV=production HOST=0.0.0.0
# A number, because Kubernetes cannot tell whether a name is root.
USER 10001:10001
EXPOSE 3000
# Podman keeps it with: podman build --format docker
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \\
  CMD ["node", "--eval", "fetch(\`http://127.0.0.1:\${process.env.MANAGEMENT_PORT || 3001}/livez\`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Neither a shell nor ${manager}, so that SIGTERM reaches the service, which finishes its requests.
ENTRYPOINT ["node", "src/server.ts"]
`
}

/** The .dockerignore of a new project: what a build does not need, and what may have secrets. */
export const dockerignore = `**/.env
**/.env.*
**/.git
**/node_modules
dist
test
`
