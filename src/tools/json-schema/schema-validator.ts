import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { JsonSchema, Tool } from '../../domain/tool.ts'
import { checkDocument } from './check-document.ts'
import { type CheckOutcome, compileDocument } from './compile-document.ts'
import { isQuickSchema } from './quick-schema.ts'
import { readDocument } from './read-document.ts'
import { SchemaFault } from './schema-fault.ts'
import { QUICK_STEPS } from './step-limit.ts'
import { type SchemaViolation, violationOf } from './violation.ts'

/**
 * The result of validating a value against a tool's schema: JSON Schema 2020-12, or draft-07 where `$schema` says so.
 * `format`, `default` and other annotations do not affect validity. Schemas are untrusted: nothing is fetched, and the
 * cost of a schema, its patterns and a value is bounded.
 */
export type Validity =
  | { readonly valid: true }
  | ({
      readonly valid: false /** The limits did not suffice to check the value. */
      readonly isUnchecked?: true
    } & SchemaViolation)

/** Checks that the schema can be used. Bytes are parsed as JSON. Throws `SchemaFault`. */
export function checkSchema(schema: unknown): void {
  validatorOf(schema)
}

interface ValidationOptions {
  /** The schema's object never changes, like that of a cached tool, so it is serialized and hashed only once. */
  readonly isImmutable?: boolean
}

/** Validates a value. Throws `SchemaFault` when the schema cannot be used. */
export function validate(schema: unknown, value: unknown, options?: ValidationOptions): Validity {
  return validityOf(validatorOf(schema, options).run(value))
}

/**
 * `validate` for an immutable schema on the event loop, for at most a few milliseconds. `undefined`: it takes longer.
 * Throws `SchemaFault` when the schema cannot be used.
 */
export function validateQuickly(schema: object, value: unknown): Validity | undefined {
  if (!isQuick(schema)) return undefined
  const outcome = validatorOf(schema, { isImmutable: true }).run(value, QUICK_STEPS)
  return outcome.outcome === 'too_long' ? undefined : validityOf(outcome)
}

function validityOf(outcome: CheckOutcome): Validity {
  switch (outcome.outcome) {
    case 'valid':
      return { valid: true }
    case 'invalid':
      return { valid: false, ...violationOf(outcome.errors) }
    case 'too_deep':
      return { valid: false, isUnchecked: true, path: '', message: 'nests too deeply to be checked' }
    case 'too_long':
      return {
        valid: false,
        isUnchecked: true,
        path: '',
        message: 'is too much to be checked against its schema',
      }
    case 'not_checked':
      return { valid: false, isUnchecked: true, path: '', message: 'cannot be checked against its schema' }
  }
}

/**
 * Validates a tool's input; absent arguments count as an empty object. Throws `SchemaFault`, also when the tool has
 * no input schema.
 */
export function validateInput(
  tool: Partial<Pick<Tool, 'inputSchema'>> | undefined,
  input: unknown = {},
  options?: ValidationOptions,
): Validity {
  if (tool?.inputSchema === undefined)
    throw new SchemaFault('invalid_schema', 'The tool has no schema of its input.')
  return validate(tool.inputSchema, input, options)
}

/**
 * Validates a tool's output; without an output schema everything is valid. Throws `SchemaFault`, also when there is
 * no tool.
 */
export function validateOutput(
  tool: { readonly outputSchema?: JsonSchema | undefined } | undefined,
  output: unknown,
  options?: ValidationOptions,
): Validity {
  if (tool === undefined)
    throw new SchemaFault('invalid_schema', 'There is no tool that this output could come from.')
  return tool.outputSchema === undefined ? { valid: true } : validate(tool.outputSchema, output, options)
}

const quick = new WeakMap<object, boolean>()

function isQuick(schema: object): boolean {
  const known = quick.get(schema) ?? isQuickSchema(stringify(schema))
  quick.set(schema, known)
  return known
}

interface Validator {
  run(value: unknown, maxSteps?: number): CheckOutcome
  /** The number of subschemas; each takes about 2 kB. */
  readonly size: number
}

/** In characters of JSON: lists, models and the event loop read all schemas. */
export const MAX_SCHEMA_LENGTH = 256 * 1024
const MAX_KEPT = 1000
const MAX_KEPT_SIZE = 20_000

/**
 * Validators by the SHA-256 of their schema's JSON, because a stored tool's schema is a new object each time its row is
 * read.
 */
const kept = new LRUCache<string, Validator>({
  max: MAX_KEPT,
  maxSize: MAX_KEPT_SIZE,
  sizeCalculation: ({ size }) => size,
})

/** The digests of immutable schemas. */
const digests = new WeakMap<object, string>()

function validatorOf(schema: unknown, { isImmutable = false }: ValidationOptions = {}): Validator {
  const object = isImmutable && typeof schema === 'object' && schema !== null ? schema : undefined
  const knownDigest = object && digests.get(object)
  const quick = knownDigest === undefined ? undefined : kept.get(knownDigest)
  if (quick !== undefined) return quick
  const text = toJson(schema)
  const digest = createHash('sha256').update(text).digest('base64')
  if (object !== undefined) digests.set(object, digest)
  const known = kept.get(digest)
  if (known !== undefined) return known
  const validator = makeValidator(text)
  kept.set(digest, validator)
  return validator
}

/** Defers code generation to the first value: most listed tools are never run. */
function makeValidator(text: string): Validator {
  const document = readDocument(parse(text))
  checkDocument(document)
  let compiled: ReturnType<typeof compileDocument> | undefined
  return {
    size: 1 + document.nodes.length,
    run(value, maxSteps) {
      compiled ??= compileDocument(document)
      return compiled(value, maxSteps)
    },
  }
}

function toJson(schema: unknown): string {
  const isSchema = typeof schema === 'boolean' || (typeof schema === 'object' && schema !== null)
  if (!isSchema || Array.isArray(schema))
    throw new SchemaFault('invalid_schema', 'A schema must be an object, or true or false.')
  const text = schema instanceof Uint8Array ? new TextDecoder().decode(schema) : stringify(schema)
  if (text.length <= MAX_SCHEMA_LENGTH) return text
  throw new SchemaFault('invalid_schema', `The schema has more than ${MAX_SCHEMA_LENGTH} characters.`)
}

function stringify(schema: unknown): string {
  try {
    return JSON.stringify(schema)
  } catch {
    throw new SchemaFault('invalid_schema', 'The schema cannot be written as JSON.')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SchemaFault('invalid_schema', 'The schema is not valid JSON.')
  }
}
