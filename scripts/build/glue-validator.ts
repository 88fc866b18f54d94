/**
 * Replaces, in the bundle, the validator that fastify-openapi-glue runs at each start. The document for glue is
 * generated/openapi.json, which is validated when it is generated and whose digest is checked at the start. Compiling
 * OpenAPI's own schema to validate it again took half of the start time. References stay: glue reads the operationIds,
 * methods and paths, and gets all else from its operationResolver.
 */
export class Validator {
  version = '3.1'
  specification: unknown

  async validate(specification: unknown): Promise<{ valid: boolean }> {
    this.specification = specification
    return { valid: true }
  }

  resolveRefs(): unknown {
    return this.specification
  }
}
