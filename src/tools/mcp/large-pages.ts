import { randomUUID } from 'node:crypto'
import { OutgoingError } from '../../egress/outgoing.ts'
import { inThread, ThreadFault, threadTask } from '../thread-pool.ts'
import { badOutputError } from '../tool-error.ts'
import { WorkerFault } from '../worker-fault.ts'
import { toolErrorOf } from '../worker-request.ts'
import { ExchangeFault } from './exchange.ts'
import type { LargeMessage, ReplacedMessage } from './large-message-task.ts'
import { type LargeMessages, markOf, withReplaced } from './large-messages.ts'

/** The pages of `tools/list`. The SDK gets an empty page in place of a large one. */
export interface ListedPages extends LargeMessages {
  /** Adds the tools of a page. Throws `WorkerFault` with `isTooLarge` when all pages have more bytes than may be read. */
  add(page: { readonly tools: readonly unknown[] }): void
  /** The tools of each page, as a JSON array. */
  readonly pages: readonly Uint8Array[]
  /** The `WorkerFault` for an exchange that failed because of a large page; any other error is returned unchanged. */
  faultOf(error: unknown): unknown
}

const task = threadTask<LargeMessage, ReplacedMessage<Uint8Array>>('./read-page-task', import.meta.url)

export function createListedPages({
  owner,
  secrets,
  maxBytes,
}: {
  readonly owner: string
  readonly secrets: readonly string[]
  readonly maxBytes: number
}): ListedPages {
  const large = new Map<string, Uint8Array>()
  const pages: Uint8Array[] = []
  let size = 0

  async function replace(bytes: Uint8Array<ArrayBuffer>, form: LargeMessage['form']): Promise<Uint8Array> {
    const mark = randomUUID()
    try {
      const read = await inThread(task, { bytes, form, mark, secrets }, { owner, transfer: [bytes.buffer] })
      if (read.kept !== undefined) large.set(mark, read.kept)
      return read.bytes
    } catch (error) {
      if (!(error instanceof ThreadFault)) throw error
      throw new WorkerFault(
        badOutputError(`The server’s list of tools could not be read: ${error.reason}. It is tried again.`),
      )
    }
  }

  return {
    pages,
    replaced: (response) => withReplaced(response, { replace, maxBytes }),
    add(page) {
      const mark = markOf(page) ?? ''
      const tools = large.get(mark) ?? new TextEncoder().encode(JSON.stringify(page.tools))
      large.delete(mark)
      size += tools.length
      if (size > maxBytes) throw tooLarge()
      pages.push(tools)
    },
    faultOf(error) {
      if (!(error instanceof ExchangeFault)) return error
      const { cause, seen } = error
      if (cause instanceof WorkerFault) return cause
      return isTooLarge(seen.fault) || isTooLarge(cause) ? tooLarge() : error
    },
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof OutgoingError && error.kind === 'too_large'
}

function tooLarge(): WorkerFault {
  const error = new OutgoingError('too_large', 'The server', { requestSent: true })
  return new WorkerFault(toolErrorOf(error), { isTooLarge: true })
}
