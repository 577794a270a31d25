import { parse } from 'yaml'
import { Refusal } from '../read-json.ts'
import { type OpenapiDocument, readDocument } from './openapi-document.ts'
import { convertedSwagger } from './swagger.ts'

// Parses documents in a thread: a long one takes seconds.

/**
 * In characters. YAML takes a hundred times as long to parse as JSON; text of this length takes seconds, in a thread.
 */
const MAX_YAML_LENGTH = 16 * 1024 * 1024
/** YAML's parsing time grows with the number of lines and of items in brackets. */
const MAX_YAML_PARTS = 1_000_000

/** Parses JSON or YAML, converts Swagger 2.0, and checks that it is an OpenAPI document. Throws `Refusal`. */
export async function parseDocument(text: string): Promise<OpenapiDocument> {
  return readDocument(await convertedSwagger(parseText(text.replace(/^\uFEFF/, ''))))
}

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
