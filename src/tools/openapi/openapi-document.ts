import { parse } from 'yaml'
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

const MAX_DEPTH = 100
/**
 * In characters. YAML takes a hundred times as long to parse as JSON; text of this length takes seconds, in a thread.
 */
const MAX_YAML_LENGTH = 16 * 1024 * 1024
/** YAML's parsing time grows with the number of lines and of items in brackets. */
const MAX_YAML_PARTS = 1_000_000
const MAX_REFERENCES = 20
/** The limit of schemas for the inputs of all tools of a document together, and the same for their outputs. */
const MAX_SCHEMAS = 200_000

/** Parses JSON or YAML and checks that it is an OpenAPI document. Throws `Refusal`. */
export function parseDocument(text: string): OpenapiDocument {
  return readDocument(parseText(text.replace(/^\uFEFF/, '')))
}

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

function parseText(text: string): unknown {
  if (/^\s*\{/.test(text)) {
    try {
      return JSON.parse(text)
    } catch {
      // a YAML flow mapping begins like this too
    }
  }
  if (text.length > MAX_YAML_LENGTH)
    throw new Refusal(
      `The document is not JSON, and too long for YAML: at most ${MAX_YAML_LENGTH} characters are allowed.`,
    )
  const parts = text.match(/[\n,[{]/g)?.length ?? 0
  if (parts > MAX_YAML_PARTS)
    throw new Refusal(
      `The document is not JSON, and has too many lines, commas and brackets for YAML: at most ${MAX_YAML_PARTS} are allowed. Give it as JSON.`,
    )
  try {
    // converting to JSON refuses the cycles that aliases may form; checking for duplicate keys takes quadratic time,
    // so the last of equal keys wins, as in JSON
    const options = { maxAliasCount: 100, logLevel: 'error', uniqueKeys: false } as const
    return JSON.parse(JSON.stringify(parse(text, options)) ?? 'null')
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
    throw new Refusal(`The document is neither JSON nor YAML: ${why.slice(0, 200)}`)
  }
}

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

/** The value a reference leads to within the document. Throws `Refusal` if it leads elsewhere or to nothing. */
export function targetOf({ root }: OpenapiDocument, reference: string): unknown {
  if (!reference.startsWith('#/'))
    throw new Refusal(
      `It refers to ${quote(reference)}: only references into the document itself (#/…) are allowed, because nothing is fetched.`,
    )
  const target = valueAtReference(root, reference)
  if (target === undefined)
    throw new Refusal(`It refers to ${quote(reference)}, which is not in the document.`)
  return target
}

/** The text without spaces at its ends; `undefined` if it is empty or not a string. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}
