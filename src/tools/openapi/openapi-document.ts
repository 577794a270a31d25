import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { valueAtReference } from '../../sdk/worker/json-pointer.ts'
import { isDeeperThan, quote, Refusal, record } from '../read-json.ts'

/** An OpenAPI 3.0 or 3.1 document. References are resolved within it only: nothing is fetched. */
export interface OpenapiDocument {
  readonly version: '3.0' | '3.1'
  readonly root: JsonRecord
  /**
   * How many more schemas may be written, for the inputs of all its tools and for their outputs. A shared schema counts
   * in each tool that uses it. Writing a schema lowers the number.
   */
  readonly budget: { input: number; output: number }
  /** The regular expressions of its schemas, each with whether the broker can check it. */
  readonly patterns: Map<string, boolean>
}

export const MAX_DEPTH = 100
const MAX_REFERENCES = 20
/** The limit of schemas for the inputs of all tools of a document together, and the same for their outputs. */
const MAX_SCHEMAS = 200_000

/** Checks that a value is an OpenAPI document that can be read. Throws `Refusal`. */
export function readDocument(value: unknown): OpenapiDocument {
  const root = record(value, 'The document')
  if (root.swagger !== undefined)
    throw new Refusal(`The document is of Swagger ${quote(root.swagger)}: convert it to OpenAPI 3.1.`)
  const version = /^3\.[01]/.exec(typeof root.openapi === 'string' ? root.openapi : '')?.[0]
  if (version !== '3.0' && version !== '3.1')
    throw new Refusal(`The document says openapi: ${quote(root.openapi)}; OpenAPI 3.1 and 3.0 are read.`)
  if (isDeeperThan(root, MAX_DEPTH)) throw new Refusal(`The document nests deeper than ${MAX_DEPTH} levels.`)
  const { jsonSchemaDialect: dialect } = root
  if (dialect !== undefined && !DIALECTS.includes(dialect))
    throw new Refusal(
      `The document’s jsonSchemaDialect is ${quote(dialect)}; only JSON Schema 2020-12 is read.`,
    )
  if (!isRecord(root.paths)) throw new Refusal('The document has no paths.')
  return { version, root, budget: { input: MAX_SCHEMAS, output: MAX_SCHEMAS }, patterns: new Map() }
}

const DIALECTS: readonly unknown[] = [
  'https://json-schema.org/draft/2020-12/schema',
  'https://spec.openapis.org/oas/3.1/dialect/base',
]

/**
 * Follows a Reference Object (`$ref`), and the ones to which it leads, to the value. `what` names the value in
 * messages. Throws `Refusal` if a reference leads out of the document, to nothing, or in a circle.
 */
export function resolved(document: OpenapiDocument, value: unknown, what: string): JsonRecord {
  let current = value
  for (let i = 0; i < MAX_REFERENCES; i++) {
    const members = record(current, what)
    if (typeof members.$ref !== 'string') return members
    current = targetOf(document, members.$ref)
  }
  throw new Refusal(
    `${what} is a chain of more than ${MAX_REFERENCES} references, or a circle of references.`,
  )
}

/** A reference out of the document, which is part of a description in several files. */
export class ForeignReference extends Refusal {
  readonly reference: string

  constructor(reference: string) {
    super(`It refers to ${quote(reference)}, which is in another document: nothing is fetched.`)
    this.reference = reference
  }
}

/** The value a reference leads to within the document. Throws `Refusal` if it leads elsewhere or to nothing. */
export function targetOf({ root }: OpenapiDocument, reference: string): unknown {
  if (!reference.startsWith('#')) throw new ForeignReference(reference)
  const target = valueAtReference(root, reference)
  if (target === undefined)
    throw new Refusal(`It refers to ${quote(reference)}, which is not in the document.`)
  return target
}

/** The text without spaces at its ends; `undefined` if it is empty or not a string. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}
