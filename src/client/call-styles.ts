/**
 * How a parameter or a field of a form is written, where that is not as its place has it by default (OpenAPI 3.1
 * section 4.8.12.2.1). `mediaType` is that of a part, where it is neither text/plain nor application/json.
 */
export type ParameterStyle = { style?: string; explode?: boolean; isJson?: boolean; mediaType?: string }

/** The parameters that are not written as their place has it by default, by method and path, by place and by name. */
export type CallStyles = Record<string, Record<string, Record<string, ParameterStyle>>>
