/**
 * The style of a parameter or form field where it differs from the default of its location (OpenAPI 3.1 section
 * 4.8.12.2.1). `mediaType` is that of a multipart part, where it is neither text/plain nor application/json.
 */
export type ParameterStyle = { style?: string; explode?: boolean; isJson?: boolean; mediaType?: string }

/** The styles of parameters that differ from the default, by method and path, by location and by name. */
export type CallStyles = Record<string, Record<string, Record<string, ParameterStyle>>>
