import type { ListedCatalogue } from '../backend.ts'
import { hasQuickPatterns } from '../json-schema/quick-schema.ts'
import { LARGE_BYTES } from '../large-json.ts'
import { Refusal } from '../read-json.ts'
import { inThread, ThreadFault, type ThreadTask } from '../thread-pool.ts'
import { badOutputError } from '../tool-error.ts'
import { WorkerFault } from '../worker-fault.ts'
import {
  type CatalogueReading,
  digestOf,
  parsePages,
  type ReadPages,
  type ReceivedCatalogue,
} from './catalogue-reading.ts'
import { unpackItems } from './packed-items.ts'

/**
 * Reads a small list on the event loop, and in a thread, which runs `readPacked`, a large one and one whose patterns take
 * long to compile. Throws `WorkerFault`.
 */
export async function readCatalogue<About>(
  received: ReceivedCatalogue<About>,
  {
    task,
    read,
    owner,
  }: {
    readonly task: ThreadTask<ReceivedCatalogue<About>, CatalogueReading>
    readonly read: ReadPages<About>
    readonly owner: string
  },
): Promise<ListedCatalogue | 'unchanged'> {
  const { pages, about, before } = received
  try {
    if (pages.reduce((sum, { length }) => sum + length, 0) <= LARGE_BYTES) {
      const digest = digestOf(received)
      if (digest === before) return 'unchanged'
      const parsed = parsePages(pages)
      if (hasQuickPatterns(JSON.stringify(parsed))) return { digest, items: read(parsed, about) }
    }
    const own = pages.map(withOwnBuffer)
    const transfer = own.map(({ buffer }) => buffer)
    const reading = await inThread(task, { ...received, pages: own }, { owner, transfer })
    if (reading.outcome === 'unchanged') return 'unchanged'
    if (reading.outcome === 'refused') throw new Refusal(reading.reason)
    return { digest: reading.digest, items: await unpackItems(reading.items) }
  } catch (error) {
    if (error instanceof Refusal) throw new WorkerFault(badOutputError(error.message))
    if (error instanceof ThreadFault) throw new WorkerFault(badOutputError(whyUnread(error)))
    throw error
  }
}

/** A page that shares its buffer with other bytes cannot be transferred. */
function withOwnBuffer(page: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = page
  const isOwn = buffer instanceof ArrayBuffer && page.length === buffer.byteLength
  return isOwn ? new Uint8Array(buffer) : new Uint8Array(page)
}

function whyUnread({ reason }: ThreadFault): string {
  if (reason === 'timeout' || reason === 'memory')
    return `The worker’s list of tools takes too much ${reason === 'timeout' ? 'time' : 'memory'} to read.`
  return 'The worker’s list of tools could not be read now; it is tried again.'
}
