/** How serious a deviation of a document is. */
type Grade = 'served' | 'advice' | 'refused'

/** What a document has, and what follows. */
export type Row<Given extends Grade = Grade> = { grade: Given; what: string; then: string }

/** Returns a function that returns a row of the table. */
const graded =
  <Given extends Grade>(grade: Given) =>
  (what: string, then: string): Row<Given> => ({ grade, what, then })

/** What the service serves without a word, and how. */
const served = graded('served')
/** What the service serves with a warning, and what it assumes. */
const advice = graded('advice')

/** What the service cannot serve, and why: a section of a specification, exactness, safety, or bounded time. */
const refused = graded('refused')

/**
 * The kinds of what documents have beside what OpenAPI asks for. The grade decides whether a report of a kind is a warning
 * or a problem. docs/grades.md shows this table.
 */
export const grades = {
  // Files and references
  'unreadable-text': refused(
    'a text that is neither YAML nor JSON, has a key twice, or cannot be read as a file',
    'YAML 1.2.2 section 3.2.1.1 and RFC 8259: it has no certain value',
  ),
  'exceeded-limit': refused('more files, or larger or deeper ones, than the limits', 'bounded time and memory'),
  'unsupported-version': refused(
    'a version other than OpenAPI 3.0, 3.1 and 3.2',
    'the meaning of fields depends on the version (OpenAPI 3.1 section 4.1)',
  ),
  'reference-without-target': refused(
    'a reference without a target, or to a URL',
    'what is there is unknown, and nothing that a document names is fetched',
  ),
  'reference-to-operation': refused(
    'an operation that is a reference',
    'safety: OpenAPI has no such reference, and its target may require credentials',
  ),
  'reference-to-another-kind': refused(
    'a reference that leads to an object of another kind',
    'OpenAPI 3.1 section 4.8.23: what the reference stands for is not what its place needs',
  ),
  'endless-reference': refused(
    'a schema that refers back to itself without a property or an item in between',
    'bounded time: JSON Schema core, section 9.4.1; validation would never end',
  ),
  'unresolved-anchor': refused(
    'a dynamic reference without an anchor, or with an ambiguous one, and an identifier in a place without files',
    'JSON Schema core, section 8.2: the schema that is meant is unknown',
  ),
  'unsupported-dialect': refused(
    'a dialect of JSON Schema other than draft 4 to 2020-12',
    'the meaning of its keywords is unknown (JSON Schema core, section 8.1.1)',
  ),
  'invalid-overlay': refused('an overlay that cannot be applied', 'Overlay 1.1.0: what it makes is unknown'),
  'doubtful-overlay': advice('an overlay action without an effect, or `extends` without a file', 'the rest is applied'),
  'meant-reference': advice(
    'a reference without a target that can only mean one component, such as `Pet` or `#/definitions/Pet`',
    'that component',
  ),
  'needless-reference': advice(
    'a reference without a target in an example, a link, external documentation, a tag, `xml` or `info`',
    'it is left out, since a server does not need it',
  ),
  'translated-dialect': advice(
    'a schema of draft 4 to 2019-09, or a dialect in OpenAPI 3.0',
    'it is translated to JSON Schema 2020-12; in 3.0, the dialect is ignored',
  ),
  'schema-resource-without-id': advice(
    'a dynamic anchor of several schemas, of which one has no `$id`',
    'the schema is read as a schema resource of its own',
  ),
  'ambiguous-discriminator-value': advice(
    'a discriminator whose alternatives have the same name in several files',
    'one keeps the name as its value, and the others get the names of the published document',
  ),
  'reference-in-data': served(
    '`$ref` in an example, a `default`, an `enum`, a `const` or an extension',
    'data like any other',
  ),
  'yaml-of-people': served(
    'merge keys, anchors and aliases, a byte order mark, a tab after a key, and words of YAML 1.1 such as `yes`',
    'what parsers of YAML agree on; `yes` is a text',
  ),
  'json-of-people': served('JSON with comments or trailing commas', 'the values, as YAML'),
  // Structure
  'wrong-type': refused(
    'a value of a wrong type whose meaning is not certain',
    'OpenAPI defines no meaning for it, and each reading would change what is served',
  ),
  'missing-field': refused(
    'an object without a field that it needs, such as a parameter without `in`',
    'OpenAPI requires the field, and the service depends on it',
  ),
  'lone-surrogate': refused('a name with a lone surrogate', 'RFC 3629 section 3: no request can contain it'),
  'convertible-type': advice(
    'a value of a wrong type with one meaning, such as `"10"` for a number, `String` for a type, or a text for a word',
    'the value that is meant; it is ignored if it limits or serves nothing',
  ),
  'unknown-field': advice(
    'a field that OpenAPI does not have, such as `item` or `produces`',
    'it is ignored; the warning names the field that is probably meant',
  ),
  'null-field': advice('a field that is null', 'it is ignored, or an object without fields'),
  'field-in-another-case': advice(
    'a field in another case, such as `maxlength` or `RequestBody`',
    'the field that is meant, unless the object also has that, or `security` would open an operation',
  ),
  'field-beside-reference': advice(
    'fields beside a `$ref`',
    'they have no effect (OpenAPI 3.1 section 4.8.23; for schemas, 3.0.4 section 4.7.23)',
  ),
  'list-of-items': advice('a list of `items` outside of JSON Schema before 2020-12', 'it is `prefixItems`'),
  'keywords-outside-schema': advice(
    'a parameter, a header or a media type with keywords of a schema, as in Swagger 2.0',
    'they are its schema',
  ),
  'authorization-parameter': advice('a header parameter `Authorization`', 'OpenAPI ignores it (3.1 section 4.8.12.2)'),
  'header-as-parameter': advice(
    'a header that refers to a parameter in a header',
    'the parameter describes the header',
  ),
  'missing-info': advice('no title or version', 'the title is API, the version 0.0.0'),
  'response-without-description': served('a response without a description', 'for people only'),
  'duplicate-tag': served('a tag or a value of an `enum` twice', 'as if it were there once'),
  // Paths, servers and operations
  'unserved-path': advice(
    'a key of `paths` that is a URL, is empty, or is a path of the document once more, without its slash',
    'the key is not served',
  ),
  'path-notation': advice(
    'a path without its first slash, or in the notation of a router, as in `{id:int}`',
    'it is served as `/` and the path, and with `{id}`',
  ),
  'unclear-path': advice(
    'a path with a space, a fragment, or the parameter of a router that is not described',
    'a space is `%20`, a fragment is left out, and the text is a literal part of the path',
  ),
  'unmatchable-path': refused(
    'a path with `*`, an encoded delimiter, parameters without text between them, or one parameter twice',
    'OpenAPI 3.1 section 4.8.8 and RFC 3986 section 2.2: it has no certain parts',
  ),
  'shared-route': refused(
    'two operations of one method and path that no parameter tells apart',
    'OpenAPI 3.1 section 4.8.8.1: templated paths with the same hierarchy are identical; one would never be called',
  ),
  'server-url': advice(
    'a server with an odd scheme or host, a relative URL, a query, or spaces',
    'the service needs the path only; a relative path begins with a slash',
  ),
  'server-variable': advice(
    'a variable of a server without a default, or with one that its `enum` does not list',
    'the first value of the `enum` is the default; a default that it does not list is a value, too',
  ),
  'ignored-server': advice(
    'a server without a URL, or one beside others with an undescribed variable in its path',
    'it is ignored',
  ),
  'server-variable-as-template': advice(
    'a server variable in a path whose value is a template, such as `{tenant}`',
    'any text matches in its place, and no handler receives it',
  ),
  'server-path': refused(
    'an undescribed variable in the path of each server',
    'OpenAPI 3.1 section 4.8.5: the paths of its operations are unknown',
  ),
  'unsupported-method': refused(
    'TRACE, CONNECT, a method that the HTTP parser does not know, or one in another case',
    'RFC 9110 sections 9.1 and 9.3.8: methods are case-sensitive, and TRACE returns credentials',
  ),
  'missing-operation-id': advice(
    'an operation without an `operationId`',
    'its handler is named after its method and path',
  ),
  'duplicate-operation-id': advice(
    'the `operationId` of another operation',
    'the handler of the later one is named after its method and path',
  ),
  'invalid-announcement': refused(
    '`x-deprecation` or `x-sunset` without a valid date, or in the wrong order',
    'RFC 9745 section 4 and RFC 8594: clients would get a wrong date',
  ),
  'undated-deprecation': advice('a deprecated operation without a date', 'no header says so'),
  'invalid-digest': refused('an `x-etag` that makes no entity tag', 'RFC 9110 section 8.8.3: clients expect one'),
  'callback-expression': advice(
    'a callback whose URL is not a runtime expression',
    'the URL cannot be evaluated; the operation is served',
  ),
  'unsupported-tool': refused(
    '`x-mcp` at an operation that a tool cannot call',
    'a tool sends JSON and gets JSON or text; the call would always fail',
  ),
  // Parameters
  'optional-path-parameter': advice('an optional path parameter', 'it is required'),
  'parameter-without-schema': advice('a parameter without a schema and without content', 'a string'),
  'undescribed-path-parameter': advice('a parameter that the path has and nothing describes', 'a required string'),
  'unused-path-parameter': advice(
    'a path parameter that the path does not have',
    'it is ignored; it is the one of the path if both differ in case and punctuation only',
  ),
  'duplicate-parameter': advice(
    'two parameters of one name and location in a list, or a header parameter of the path in another case',
    'the last one counts, under the name that the path has for it (RFC 9110 section 5.1)',
  ),
  'undefined-style': advice(
    'a style that OpenAPI does not define for a parameter, if clients send it in one way',
    'the style that clients send',
  ),
  'ambiguous-style': refused(
    'a style that clients send in several ways, or that cannot write the values of a parameter',
    'OpenAPI 3.1 section 4.8.12.6, and exactness: a request would be read as another value',
  ),
  'unclear-parameter': refused(
    'a parameter without a schema, with a schema and content, or with content that cannot be read',
    'OpenAPI 3.1 section 4.8.12.2, and 3.2 section 4.12.1: its values have no certain form',
  ),
  'equal-names': advice(
    'a property of an exploded object that has the name of another parameter',
    'each receives the value; a name that is listed is left out of `additionalProperties`',
  ),
  'conflicting-names': refused(
    'two parameters, or a parameter and a credential, that would claim the same names',
    'exactness: a request would be read as another value',
  ),
  'empty-value': advice('`allowEmptyValue` beside a schema that rejects the empty value', 'the schema counts'),
  'invalid-default': advice('a `default` of a parameter that its schema rejects', 'it is not used'),
  // Bodies, responses and headers
  'inexact-media-type': advice(
    'a key of content that is nearly a media type, as in `application/json;`, or none beside others; no key at all',
    'the media type that is meant; a key that is none is ignored; without a key, a body is bytes',
  ),
  'invalid-media-type': refused(
    'content whose only key is no media type, or JSON in a charset other than UTF-8',
    'RFC 9110 section 8.3.1, and RFC 8259 section 8.1 for JSON',
  ),
  'range-with-schema': advice(
    'a media type range, such as `*/*`, with a schema of more than bytes or a string',
    '`application/json`',
  ),
  'unparsed-body': advice(
    '`multipart` except `multipart/form-data`, and text or a form in a charset other than UTF-8',
    'bytes',
  ),
  'unvalidated-body': advice(
    'a schema for a media type that is neither JSON, text nor a form',
    'the body is not validated',
  ),
  'item-description': advice(
    'items of a media type that are not read one by one, or not as described',
    'the description of the items is ignored, as the warning says',
  ),
  'unclear-form': advice(
    'a form, or a part or field of it, that cannot be read as described',
    'the handler gets its bytes or texts, which are not validated',
  ),
  'headers-of-part': advice('headers of a part of a form', 'they are not checked'),
  'style-of-part': advice(
    '`style` or `explode` in `multipart/form-data`',
    'each item of an array is a part, and an object is JSON; OpenAPI 3.0 ignores the fields',
  ),
  'ignored-body': advice(
    'a body of GET or HEAD in OpenAPI 3.0, and an optional body of HEAD',
    'it is ignored (OpenAPI 3.0.4 section 4.7.10.1; RFC 9110 section 9.3.2)',
  ),
  'body-of-get': advice('a body of GET', 'it is served, but many clients cannot send it'),
  'body-against-method': refused(
    'QUERY without a body, or HEAD with a required one',
    'RFC 10008 section 2, and RFC 9110 section 9.3.2',
  ),
  'optional-body-of-query': advice('an optional body of QUERY', 'it is required'),
  'operation-without-responses': advice(
    'an operation without responses',
    'its handler may return any status, without a body',
  ),
  'inexact-status': advice(
    'a status as in `4xx` or `200 OK`; or a key that is no status, beside others',
    'the status that is meant; a key that is none is ignored',
  ),
  'invalid-status': refused(
    'responses whose only keys are no statuses from 200',
    'RFC 9110 section 15: no response can have them',
  ),
  'content-of-empty-response': advice(
    'content of a response of 204, 205 or 304',
    'it is ignored (RFC 9110 section 15)',
  ),
  'header-media-type': advice('content of a header that is neither JSON nor text', 'the header is written as a string'),
  'error-number': refused(
    '`x-error-numbers` with an invalid or repeated number, or without one that a response has',
    'clients tell errors by their numbers',
  ),
  'error-body': refused(
    'a response that the body of an error of the service does not match',
    'exactness: the service would send what the document does not describe',
  ),
  // Security
  'security-requirement': advice(
    'a requirement as an object or a text, or with the name of a scheme in another case',
    'the requirement that is meant; no operation is opened by it',
  ),
  'security-of-path-item': advice('the `security` of a path item', 'that of its operations without their own'),
  'misplaced-security': refused(
    'a requirement in another object, or under another name',
    'safety: without it, the operation would be open',
  ),
  'undeclared-alternative': advice(
    'an alternative with an undeclared scheme, beside others',
    'the alternative is ignored',
  ),
  'undeclared-scheme': refused(
    'requirements whose schemes are not declared',
    'safety: without them, the operation would be open',
  ),
  'conflicting-schemes': advice('schemes of a requirement that use the same header', 'no request meets both'),
  'undeclared-scope': advice('a scope that no flow declares', 'it is required'),
  'invalid-scope': refused(
    'a scope with spaces or characters other than ASCII',
    'RFC 6749 section 3.3: no token can have it',
  ),
  // Schemas
  'keyword-of-another-type': advice(
    'a keyword, or a value of an `enum`, that does not belong to the type beside it',
    'it has no effect (JSON Schema validation, section 6)',
  ),
  'keyword-of-another-version': advice(
    'a keyword of another version, such as `const` in 3.0, or `nullable` in 3.1',
    'it is applied as in the version that has it; `nullable` in 3.1 is ignored',
  ),
  'nullable-without-effect': advice(
    '`nullable` in OpenAPI 3.0 without a type, or beside an `enum` without null',
    'null is not allowed (OpenAPI 3.0.3, "Clarify Semantics of nullable")',
  ),
  'empty-enum': advice('an `enum` without values', 'no value is valid'),
  'empty-alternatives': advice('an `allOf`, `anyOf` or `oneOf` without schemas', 'it is ignored'),
  'required-in-property': advice('`required: true` in a property', 'it is ignored: the property is optional'),
  'pattern-with-slashes': advice(
    'a `pattern` as a literal of JavaScript, as in `/^a$/i`',
    'the expression between the slashes, with the flag',
  ),
  'pattern-not-ecma': refused(
    'a `pattern` that is no regular expression of ECMA-262',
    'JSON Schema core, section 6.4: without it, a schema would accept what its author excludes',
  ),
  'pattern-too-slow': refused(
    'a `pattern` that no automaton matches, and that may take more than linear time',
    'bounded time: one request could block the service',
  ),
  'slow-property-pattern': advice(
    'a pattern of `patternProperties` that takes quadratic time',
    'the names have at most 800 characters',
  ),
  'wide-integer-without-format': advice(
    'an integer beyond 2^53 - 1 in a schema without a format',
    'the format `int64` or `uint64`',
  ),
  'wide-integer': refused(
    'an integer beyond 2^53 - 1 that would be rounded, or whose digits are unknown',
    'exactness: RFC 8259 section 6; the service would check another limit or value',
  ),
  'wide-integer-in-example': advice('an integer beyond 2^53 - 1 in an example', 'the documentation page rounds it'),
  'rounded-format': advice('`int64` or `uint64` beside another type than `integer`', 'numbers are doubles'),
  'inexact-contains': refused(
    'an int64 in `contains`, or `unevaluatedItems` beside a `contains` in an alternative',
    'exactness: values would be rounded; which items are evaluated is unknown (JSON Schema core, section 11.2)',
  ),
  'reserved-name': refused(
    'the name `__proto__` in a keyword that Ajv ignores it in, or a keyword of generated schemas',
    'safety: the constraint would not be applied',
  ),
  'invalid-default-mapping': refused(
    'a `defaultMapping` that leads to no alternative',
    'OpenAPI 3.2 section 4.25: the schema of other values is unknown',
  ),
  'exposed-property': refused(
    'a property that is `writeOnly` in one alternative and not in another',
    'safety: a response could expose it',
  ),
  'mark-without-effect': advice(
    '`readOnly` or `writeOnly` in a schema that is not a property, or both at one property',
    'it is ignored; a property with both is in no request and no response',
  ),
  'counted-properties': advice(
    '`minProperties` or `maxProperties` beside properties that requests or responses ignore',
    'an ignored property counts when it is sent',
  ),
  'boolean-schema': served('true, false or `{}` as a schema, and schemas without a type', 'as JSON Schema says'),
  'format-of-another-type': served(
    'an unknown format, or one that does not belong to the type',
    'it is ignored, as JSON Schema says',
  ),
  'discriminator-without-alternatives': served(
    'a discriminator without alternatives, or whose property no schema describes',
    'whatever the schemas allow',
  ),
  'required-without-property': served('a required property that is not described', 'it has any value'),
}
