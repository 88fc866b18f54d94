/*
 * What handlers and clients read in the same way of the types that are generated for a document.
 */

/** The statuses of a range such as 4XX (OpenAPI 3.1 section 4.8.16.2). */
export type StatusIn<Range> = Range extends `${infer Class}XX` ? NumberOf<`${Class}${Digit}${Digit}`> : never
type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
type NumberOf<Text> = Text extends `${infer Value extends number}` ? Value : never

/** The kind of a media type, which the compiler writes into the type of the operation if it is not JSON. */
export type KindOf<Operation, Type> = Operation extends { kinds: infer Kinds }
  ? Type extends keyof Kinds
    ? Kinds[Type]
    : 'json'
  : 'json'

/**
 * A value in a JSON module. TypeScript says of each object in a list that it may have the members of the others, with the
 * value undefined.
 */
export type Imported<Value> = Value extends object
  ? { [Name in keyof Value]: Imported<Value[Name]> | undefined }
  : Value
