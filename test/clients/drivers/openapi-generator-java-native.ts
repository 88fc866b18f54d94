import type { Build } from '../driver.ts'
import { buildOpenApiGeneratorJava } from './java.ts'

/** The library native uses the HttpClient of the JDK, and Jackson. */
export const build: Build = (context) => buildOpenApiGeneratorJava(context, 'native', 'OpenApiGeneratorNative')
