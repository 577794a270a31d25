import { LRUCache } from 'lru-cache'
import type { Worker } from '../../domain/worker.ts'
import type { CatalogueBounds } from '../backend.ts'
import { badOutputError } from '../tool-error.ts'
import { WorkerFault } from '../worker-fault.ts'

// Small catalogues are read without waiting. A process reads one large catalogue at a time, from the request until its
// tools are stored, which bounds the memory. Others wait in a queue for each project, and the queues take turns.

const MEBIBYTE = 1024 * 1024
/** The time is short, so that one worker that hangs does not delay the catalogues of others. */
const SMALL: CatalogueBounds = { maxBytes: MEBIBYTE, maxSeconds: 10 }
const LARGE: CatalogueBounds = { maxBytes: 64 * MEBIBYTE, maxSeconds: 30 }
/** Workers whose catalogue was large are remembered. Their catalogue is read with the large bounds from the start. */
const MAX_REMEMBERED = 10_000
const large = new LRUCache<string, true>({ max: MAX_REMEMBERED })

/** The waiting reads of each project, in the order in which the projects are served. */
const queues = new Map<string, (() => void)[]>()
let isTaken = false

/** Runs `read` with the bounds of small catalogues. If the catalogue is larger, waits for the slot and reads it with the large bounds. */
export async function readBounded<Result>(
  { uid, projectId }: Pick<Worker, 'uid' | 'projectId'>,
  read: (bounds: CatalogueBounds) => Promise<Result>,
): Promise<Result> {
  if (!large.has(uid))
    try {
      return await read(SMALL)
    } catch (error) {
      if (!isTooLarge(error)) throw error
      large.set(uid, true)
    }
  await acquireSlot(projectId)
  try {
    return await read(LARGE)
  } catch (error) {
    throw isTooLarge(error) ? tooLarge() : error
  } finally {
    releaseSlot()
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof WorkerFault && error.isTooLarge
}

function tooLarge(): WorkerFault {
  const most = LARGE.maxBytes / MEBIBYTE
  return new WorkerFault(
    badOutputError(`The worker’s list of tools has more than ${most} MiB. None of its tools was changed.`),
  )
}

function acquireSlot(projectId: string): Promise<void> | undefined {
  if (!isTaken) {
    isTaken = true
    return undefined
  }
  const { promise, resolve } = Promise.withResolvers<void>()
  const queue = queues.get(projectId) ?? []
  queue.push(resolve)
  queues.set(projectId, queue)
  return promise
}

function releaseSlot(): void {
  const [next] = queues
  if (next === undefined) {
    isTaken = false
    return
  }
  const [projectId, queue] = next
  const begin = queue.shift()
  queues.delete(projectId)
  if (queue.length > 0) queues.set(projectId, queue) // after all other projects
  begin?.()
}
