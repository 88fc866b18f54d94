import { templateLiteral } from '../text/source-text.ts'

/**
 * Returns the module that a service imports. It has all that the service needs of the document, so that a bundle contains
 * it, and nothing of it can belong to another version of the document.
 */
export const contractModule = (documentText: string, routesText: string, schemaCode: string): string =>
  `const documentText = ${templateLiteral(documentText)}

// JSON.parse takes any name for a property, also __proto__.
const routes = JSON.parse(${templateLiteral(routesText)})

const schemaCode = ${schemaCode}

export const contract = { documentText, routes, schemaCode }
`

/** The types of that module. */
export const contractDeclaration = `import type { Contract } from 'fastify-contract'

export declare const contract: Contract
`
