/** How a parameter is written, where that is not as its place has it by default (OpenAPI 3.1 section 4.8.12.2.1). */
export type ParameterStyle = { style?: string; explode?: boolean; isJson?: boolean }

/** The parameters that are not written as their place has it by default, by method and path, by place and by name. */
export type CallStyles = Record<string, Record<string, Record<string, ParameterStyle>>>
