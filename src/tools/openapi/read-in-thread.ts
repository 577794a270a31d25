import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import type { CatalogueItem } from '../backend.ts'
import { unpackItems } from '../catalogue/packed-items.ts'
import { Refusal } from '../read-json.ts'
import { inThread, ThreadFault, threadTask } from '../thread-pool.ts'
import { WorkerFault } from '../worker-fault.ts'
import type { ParsedDocument } from './parse-document-task.ts'
import type { DocumentReading, DocumentToRead } from './read-document-task.ts'

const readTask = threadTask<DocumentToRead, DocumentReading>('./read-document-task', import.meta.url)
const parseTask = threadTask<string, ParsedDocument>('./parse-document-task', import.meta.url)

/** Reads the tools of a document without blocking the event loop. Throws `Refusal`. */
export async function readInThread(
  document: DocumentToRead,
  owner: string,
): Promise<readonly CatalogueItem[]> {
  const reading = await withRefusal(() => inThread(readTask, document, { owner }))
  if (reading.outcome === 'refused') throw new Refusal(reading.reason)
  return unpackItems(reading.items)
}

/** Parses a document in JSON or YAML. Throws `Refusal`. */
export async function parseInThread(text: string, owner: string): Promise<JsonRecord> {
  const parsed = await withRefusal(() => inThread(parseTask, text, { owner }))
  if (parsed.outcome === 'refused') throw new Refusal(parsed.reason)
  const root: unknown = JSON.parse(new TextDecoder().decode(parsed.json))
  if (!isRecord(root)) throw new Error('The task parses objects alone.')
  return root
}

/** Turns a `ThreadFault` into a `Refusal`, or into a `WorkerFault` if a later reading may succeed. */
async function withRefusal<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof ThreadFault)) throw error
    if (error.reason === 'timeout' || error.reason === 'memory')
      throw new Refusal(
        `The document takes too much ${error.reason === 'timeout' ? 'time' : 'memory'} to read: give it as JSON, or in parts.`,
      )
    throw new WorkerFault({
      kind: 'TOOLKIT_LOAD_FAILED',
      message: 'The description of the API could not be read now; it is tried again.',
      canRetry: true,
    })
  }
}
