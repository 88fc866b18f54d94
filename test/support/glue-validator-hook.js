/**
 * Replaces the validator of fastify-openapi-glue, as the bundle does (a module hook of Node). Its own validator compiles
 * OpenAPI's schema for each server, which takes 0.2 s. The test of the app runs that validator.
 */
export function resolve(specifier, context, nextResolve) {
  const isGlue = context.parentURL?.includes('/node_modules/fastify-openapi-glue/')
  const isReplaced = isGlue && specifier === '@seriousme/openapi-schema-validator'
  return nextResolve(isReplaced ? 'fastify-contract/glue-validator' : specifier, context)
}
