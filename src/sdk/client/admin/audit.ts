import type * as Wire from '../../generated/wire.ts'
import { withoutUndefined } from '../../without-undefined.ts'
import { ConnectionError } from '../errors.ts'
import type { RequestOptions, Transport } from '../transport.ts'

/** Selects entries of the audit trail. */
export interface AuditFilter {
  readonly user?: string | undefined
  readonly provider?: string | undefined
  readonly connection?: string | undefined
  readonly action?: Wire.AuditEntry['action'] | undefined
  readonly tool?: string | undefined
  /** What was acted on, for things without a member of their own: a worker, a policy, a secret. */
  readonly subject?: string | undefined
  /** The id of an API key. */
  readonly actor?: string | undefined
  readonly since?: Date | string | undefined
  readonly until?: Date | string | undefined
}

export interface AuditPage {
  readonly items: readonly Wire.AuditEntry[]
  /** The `before` that requests the next page; absent on the last page. */
  readonly nextBefore?: number
  /** Entries up to this number were moved into archives, and are no longer listed. */
  readonly archivedThrough?: number
}

/** Entries of the trail, newest first, page by page as they are iterated. */
export interface AuditList extends AsyncIterable<Wire.AuditEntry> {
  /** `limit`: at most 1,000; 100 by default. */
  page(options?: RequestOptions & { readonly before?: number; readonly limit?: number }): Promise<AuditPage>
}

/** The audit trail of the project. */
export interface AuditLog {
  list(filter?: AuditFilter): AuditList
  /**
   * All entries after the number `after`, oldest first, in one request: for copies elsewhere. Throws
   * `entries_archived` when the entry that follows `after` was moved into an archive.
   */
  export(filter?: AuditFilter & RequestOptions & { readonly after?: number }): AsyncIterable<Wire.AuditEntry>
}

export function createAuditLog(transport: Transport): AuditLog {
  return {
    list(filter = {}) {
      const page: AuditList['page'] = async ({ before, limit, ...options } = {}) => {
        const query = { ...toQuery(filter), before, limit }
        const answer = await transport.call('listAuditEntries', { query, options })
        const { items, next_before: nextBefore, archived_through: archivedThrough } = answer
        return withoutUndefined({ items, nextBefore, archivedThrough })
      }
      async function* iterate(): AsyncGenerator<Wire.AuditEntry, void> {
        let before: number | undefined
        do {
          const { items, nextBefore } = await page({ limit: 1000, ...(before !== undefined && { before }) })
          yield* items
          before = nextBefore
        } while (before !== undefined)
      }
      return { page, [Symbol.asyncIterator]: iterate }
    },
    async *export({ after, signal, timeoutMs, maxRetries, traceparent, ...filter } = {}) {
      const { body } = await transport.open('exportAuditEntries', {
        query: { ...toQuery(filter), after },
        options: { signal, timeoutMs, maxRetries, traceparent },
      })
      for await (const line of body === null ? [] : linesOf(body, signal))
        if (line !== '') yield JSON.parse(line) as Wire.AuditEntry // one entry a line, as openapi.json says
    },
  }
}

function toQuery(filter: AuditFilter) {
  const { user, provider, connection, action, tool, subject, actor, since, until } = filter
  return {
    user_id: user,
    provider_id: provider,
    connection_id: connection,
    action,
    tool,
    subject,
    actor_id: actor,
    since: since instanceof Date ? since.toISOString() : since,
    until: until instanceof Date ? until.toISOString() : until,
  }
}

/** Yields the lines of a body; cancels it when the caller stops reading. Throws `ConnectionError` if it breaks off. */
async function* linesOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void> {
  const reader = body.getReader()
  const read = () =>
    reader.read().catch((cause: unknown) => {
      signal?.throwIfAborted()
      throw new ConnectionError('connection_error', 'The export ended before its last entry.', { cause })
    })
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await read()
      rest += decoder.decode(value, { stream: !done })
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      yield* lines
      if (done) break
    }
    if (rest !== '') yield rest
  } finally {
    await reader.cancel().catch(() => {}) // the connection may have ended already
  }
}
