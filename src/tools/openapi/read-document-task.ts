import { normalizeTags } from '../../domain/tags.ts'
import type { CatalogueItem } from '../backend.ts'
import { listedFaults } from '../catalogue/validate-tool.ts'
import { type JsonRecord, Refusal } from '../read-json.ts'
import { parseDocument, readDocument } from './openapi-document.ts'
import { readOpenapi, unusedSettings } from './read-openapi.ts'
import type { ReadingOptions } from './read-operation.ts'

// Reads the tools of a document in a worker thread, because a large one takes seconds.

export interface DocumentToRead extends ReadingOptions {
  /** The document's bytes, or a document that was given as JSON. */
  readonly source: Uint8Array | JsonRecord
}

/**
 * The items as concatenated JSON with the end of each, so that the event loop can parse them one by one; or why the
 * document was refused.
 */
export type DocumentReading =
  | { readonly outcome: 'read'; readonly bytes: Uint8Array; readonly ends: readonly number[] }
  | { readonly outcome: 'refused'; readonly reason: string }

export async function run(
  { source, ...options }: DocumentToRead,
  transfer: ArrayBuffer[],
): Promise<DocumentReading> {
  try {
    const document =
      source instanceof Uint8Array ? parseDocument(new TextDecoder().decode(source)) : readDocument(source)
    const listed = await readOpenapi(document, options)
    const items: CatalogueItem[] = [
      ...listed.map((item) =>
        item.outcome === 'read'
          ? { ...item, faults: listedFaults({ ...item.tool, tags: normalizeTags(item.tool.tags ?? []) }) }
          : item,
      ),
      ...unusedSettings(document, options.settings).map(
        (message) => ({ outcome: 'remark', message }) as const,
      ),
    ]
    const parts = items.map((item) => Buffer.from(JSON.stringify(item)))
    const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
    const ends: number[] = []
    let end = 0
    for (const part of parts) {
      bytes.set(part, end)
      end += part.length
      ends.push(end)
    }
    transfer.push(bytes.buffer)
    return { outcome: 'read', bytes, ends }
  } catch (error) {
    if (error instanceof Refusal) return { outcome: 'refused', reason: error.message }
    throw error
  }
}
