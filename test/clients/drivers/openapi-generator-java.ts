import type { Build } from '../driver.ts'
import { buildOpenApiGeneratorJava } from './java.ts'

/** okhttp-gson is the library that the generator uses by default. */
export const build: Build = (context) => buildOpenApiGeneratorJava(context, 'okhttp-gson', 'OpenApiGenerator')
