import { Refusal } from '../read-json.ts'
import { parseDocument } from './parse-document.ts'

/** The document as JSON, or why the text is no OpenAPI document. */
export type ParsedDocument =
  | { readonly outcome: 'read'; readonly json: Uint8Array }
  | { readonly outcome: 'refused'; readonly reason: string }

/** Parses a document in a thread (thread-pool.ts). */
export async function run(text: string, transfer: ArrayBuffer[]): Promise<ParsedDocument> {
  try {
    const json = new TextEncoder().encode(JSON.stringify((await parseDocument(text)).root))
    transfer.push(json.buffer)
    return { outcome: 'read', json }
  } catch (error) {
    if (error instanceof Refusal) return { outcome: 'refused', reason: error.message }
    throw error
  }
}
