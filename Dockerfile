# A tag can be moved. To pin an image, add the digest that `docker buildx imagetools inspect` shows to both:
# node:TAG@sha256:DIGEST.
FROM node:24.21.0-trixie-slim AS build
WORKDIR /plant-store
COPY package.json package-lock.json ./
COPY packages/fastify-contract/package.json packages/fastify-contract/
COPY packages/fastify-contract-cli/package.json packages/fastify-contract-cli/
RUN --mount=type=cache,target=/root/.npm npm ci
COPY tsconfig.json redocly.yaml ./
COPY openapi openapi
COPY generated generated
COPY packages packages
COPY scripts scripts
COPY src src
RUN npm run build && npx tsx scripts/sbom.ts && mkdir /data

FROM node:24.21.0-trixie-slim
LABEL org.opencontainers.image.title="plant-store" \
      org.opencontainers.image.description="A contract-first plant store service" \
      org.opencontainers.image.version="1.0.0" \
      org.opencontainers.image.licenses="MIT"
WORKDIR /plant-store
# COPY keeps the modes of the checkout, which may deny other users.
COPY --chmod=0644 LICENSE package.json ./
COPY --from=build /plant-store/dist/plant-store.js /plant-store/dist/server.js /plant-store/dist/sbom.cdx.json dist/
COPY --from=build /plant-store/dist/chunks dist/chunks
COPY --from=build /plant-store/dist/docs dist/docs
COPY --from=build --chown=10001:10001 /data /data
ENV NODE_ENV=production HOST=0.0.0.0 STORE_URL=sqlite:/data/plants.db
# A number, because Kubernetes cannot tell whether a name is root.
USER 10001:10001
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.MANAGEMENT_PORT || 3001}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# No shell, so the service receives SIGTERM itself and shuts down gracefully. It starts no
# processes, so it needs no init as process 1.
ENTRYPOINT ["node", "dist/plant-store.js"]
CMD ["serve"]
