import type { JsonRecord } from '../../parsing/json-record.ts'
import type { CatalogueItem } from '../backend.ts'
import { type PackedItems, packItems } from '../catalogue/packed-items.ts'
import { Refusal } from '../read-json.ts'
import { readDocument } from './openapi-document.ts'
import { parseDocument } from './parse-document.ts'
import { readOpenapi, unusedSettings } from './read-openapi.ts'
import type { ReadingOptions } from './read-operation.ts'

// Reads the tools of a document in a worker thread, because a large one takes seconds.

export interface DocumentToRead extends ReadingOptions {
  /** The document's bytes, or a document that was given as JSON. */
  readonly source: Uint8Array | JsonRecord
}

/** The items, or why the document was refused. */
export type DocumentReading =
  | { readonly outcome: 'read'; readonly items: PackedItems }
  | { readonly outcome: 'refused'; readonly reason: string }

export async function run(
  { source, ...options }: DocumentToRead,
  transfer: ArrayBuffer[],
): Promise<DocumentReading> {
  try {
    const document =
      source instanceof Uint8Array
        ? await parseDocument(new TextDecoder().decode(source))
        : readDocument(source)
    const items: CatalogueItem[] = [
      ...(await readOpenapi(document, options)),
      ...unusedSettings(document, options.settings).map(
        (message) => ({ outcome: 'remark', message }) as const,
      ),
    ]
    return { outcome: 'read', items: packItems(items, transfer) }
  } catch (error) {
    if (error instanceof Refusal) return { outcome: 'refused', reason: error.message }
    throw error
  }
}
