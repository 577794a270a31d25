import { BrokerError } from '../../domain/errors.ts'
import { createOwnerCounts } from '../../services/owner-counts.ts'

/** A stream that takes a slot. */
export interface OpenStream {
  readonly owner: string
  /** Whether the credential with which the stream was opened is still valid. */
  isAuthorized(): Promise<boolean>
  end(): void
}

/** The open streams of this process, which each hold a connection. */
export interface StreamSlots {
  /**
   * Counts a stream, and ends it at its time limit, at shutdown, and within half a minute after its credential was
   * revoked or has expired. Returns the function that releases the slot. Throws `rate_limited` at the limit of the
   * owner or of this process.
   */
  acquire(stream: OpenStream): () => void
  /** Ends every stream. */
  close(): void
  readonly count: number
}

export const MAX_STREAMS_PER_OWNER = 32
const MAX_STREAMS = 1_000
/** Clients open a stream again when it ends. */
const LIFETIME_MS = 3_600_000
const CHECK_MS = 30_000

export function createStreamSlots(): StreamSlots {
  const owners = createOwnerCounts()
  const open = new Set<OpenStream>()
  let checks: NodeJS.Timeout | undefined

  function checkLimits(owner: string): void {
    const others = owners.of(owner)
    if (others >= MAX_STREAMS_PER_OWNER)
      throw new BrokerError('rate_limited', `There are ${others} streams open for you. Close some.`, {
        retryAfter: 10,
      })
    if (open.size >= MAX_STREAMS)
      throw new BrokerError('rate_limited', 'Too many streams are open at this server.', { retryAfter: 10 })
  }

  async function checkAll(): Promise<void> {
    for (const stream of [...open]) if (!(await stream.isAuthorized())) stream.end()
  }

  return {
    acquire(stream) {
      const { owner } = stream
      checkLimits(owner)
      const removeFromOwner = owners.add(owner)
      open.add(stream)
      checks ??= setInterval(() => void checkAll(), CHECK_MS).unref()
      const lifetime = setTimeout(() => stream.end(), LIFETIME_MS).unref()
      return () => {
        if (!open.delete(stream)) return
        clearTimeout(lifetime)
        if (open.size === 0) {
          clearInterval(checks)
          checks = undefined
        }
        removeFromOwner()
      }
    },
    close() {
      for (const stream of [...open]) stream.end()
    },
    get count() {
      return open.size
    },
  }
}
