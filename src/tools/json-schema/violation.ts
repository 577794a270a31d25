import type { ErrorObject } from 'ajv'
import { pointerTokens } from '../../sdk/worker/json-pointer.ts'
import { excerpt } from './schema-fault.ts'

/**
 * How a value violates its schema: a JSON Pointer (RFC 6901) to the place and a message that quotes member names but
 * no values.
 */
export interface SchemaViolation {
  readonly path: string
  readonly message: string
  /** The missing or unexpected member at `path`. */
  readonly member?: string
}

/** Chooses the most helpful of ajv's errors. The last of them is the error of the schema as a whole. */
export function violationOf(errors: readonly ErrorObject[]): SchemaViolation {
  const last = errors.at(-1)
  if (last === undefined) return { path: '', message: 'is not valid' }
  const within = errors.slice(0, -1).filter((error) => error.instancePath.startsWith(last.instancePath))
  if (last.keyword === 'if' && within.length > 0) return violationOf(within)
  if (last.keyword === 'anyOf' || (last.keyword === 'oneOf' && last.params.passingSchemas === null)) {
    // the alternative that failed deepest in the value is probably the intended one
    const deepest = within.reduce((depth, error) => Math.max(depth, depthOf(error)), 0)
    if (deepest > depthOf(last)) {
      const end = within.findLastIndex((error) => depthOf(error) === deepest)
      return violationOf(within.slice(0, end + 1))
    }
    const ofOtherTypes = new Set(within.filter((error) => error.keyword === 'type').map(schemaOf))
    const ofType = within.filter((error) => !ofOtherTypes.has(schemaOf(error)))
    if (ofType.length === 1) return violationOf(ofType)
    const types = within.flatMap((error) => (error.keyword === 'type' ? error.params.type : []))
    if (ofType.length === 0 && types.length > 0)
      return { path: last.instancePath, message: `must be ${[...new Set(types)].join(' or ')}` }
  }
  const member = memberOf(last)
  return {
    path: last.instancePath,
    message: messageOf(last),
    ...(typeof member === 'string' && { member }),
  }
}

function memberOf({ params }: ErrorObject): unknown {
  return (
    params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty ?? params.propertyName
  )
}

/** Formats the violation for people, such as `input.items[0].count: must be integer`. */
export function violationSentence(root: string, { path, message }: SchemaViolation): string {
  const place = pointerTokens(path).map((name) =>
    /^\d+$/.test(name)
      ? `[${name}]`
      : /^[A-Za-z_$][\w$-]*$/.test(name)
        ? `.${name}`
        : `[${JSON.stringify(name)}]`,
  )
  return `${excerpt(root + place.join(''))}: ${message}`
}

function schemaOf({ schemaPath }: ErrorObject): string {
  return schemaPath.slice(0, schemaPath.lastIndexOf('/'))
}

function depthOf({ instancePath }: ErrorObject): number {
  return instancePath.split('/').length
}

function messageOf({ keyword, params, message = 'is not valid' }: ErrorObject): string {
  switch (keyword) {
    case 'additionalProperties':
      return `must not have a member ${quote(params.additionalProperty)}`
    case 'unevaluatedProperties':
      return `must not have a member ${quote(params.unevaluatedProperty)}`
    case 'required':
      return `must have a member ${quote(params.missingProperty)}`
    case 'propertyNames':
      return `must not have a member named ${quote(params.propertyName)}`
    case 'enum':
      return `must be one of ${excerpt(params.allowedValues.map((value: unknown) => JSON.stringify(value)).join(', '))}`
    case 'const':
      return `must be ${excerpt(JSON.stringify(params.allowedValue))}`
    case 'pattern':
      return `must match the pattern ${excerpt(params.pattern)}`
    case 'anyOf':
      return 'must be one of the alternatives the schema has'
    case 'oneOf':
      return 'must be exactly one of the alternatives the schema has'
    case 'not':
      return 'must not be what the schema excludes'
    case 'false schema':
      return 'must not be there'
    default:
      return message
  }
}

function quote(name: unknown): string {
  return `"${excerpt(String(name))}"`
}
