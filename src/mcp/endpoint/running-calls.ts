import { BrokerError } from '../../domain/errors.ts'
import { createOwnerCounts } from '../../services/owner-counts.ts'

/** The tool calls that run in this process. */
export interface RunningCalls {
  /** Throws `rate_limited` if the owner has reached the limit of running calls. */
  checkLimit(owner: string): void
  /** Runs a call. It counts until it ends, even if its client has disconnected. */
  run<Result>(call: RunningCall, run: (signal: AbortSignal) => Promise<Result>): Promise<Result>
  /** Aborts the call of the connection with this request id, if it runs here. */
  cancel(connection: string, requestId: unknown): void
  /** Resolves when no call runs any more. */
  whenIdle(): Promise<void>
  /** Aborts every call. */
  abort(): void
  readonly count: number
}

export interface RunningCall {
  readonly owner: string
  /** Aborts the call. */
  readonly signal?: AbortSignal
  /** The connection whose cancellations concern the call, and the id of its request there. */
  readonly connection?: string
  readonly requestId: unknown
}

/** The limit of one owner's running calls, the same as for requests through the proxy. */
const MAX_PER_OWNER = 128

export function createRunningCalls(): RunningCalls {
  const owners = createOwnerCounts()
  const running = new Set<AbortController>()
  const cancellable = new Map<string, AbortController>()
  let idle = Promise.withResolvers<void>()
  idle.resolve()

  const keyOf = (connection: string, requestId: unknown) => JSON.stringify([connection, requestId])

  function checkLimit(owner: string): void {
    const others = owners.of(owner)
    if (others >= MAX_PER_OWNER)
      throw new BrokerError(
        'rate_limited',
        `There are ${others} tool calls in progress for you. Wait for some to end.`,
        { retryAfter: 1 },
      )
  }

  return {
    checkLimit,
    async run({ owner, signal, connection, requestId }, run) {
      checkLimit(owner)
      const controller = new AbortController()
      const key = connection === undefined ? undefined : keyOf(connection, requestId)
      if (running.size === 0) idle = Promise.withResolvers()
      running.add(controller)
      const countOff = owners.add(owner)
      if (key !== undefined) cancellable.set(key, controller)
      // `AbortSignal.any` takes 12 us, a listener 0.2
      const abort = () => controller.abort(signal?.reason)
      signal?.addEventListener('abort', abort, { once: true })
      if (signal?.aborted) abort()
      try {
        return await run(controller.signal)
      } finally {
        signal?.removeEventListener('abort', abort)
        running.delete(controller)
        countOff()
        if (key !== undefined && cancellable.get(key) === controller) cancellable.delete(key)
        if (running.size === 0) idle.resolve()
      }
    },
    cancel(connection, requestId) {
      cancellable.get(keyOf(connection, requestId))?.abort()
    },
    whenIdle: () => idle.promise,
    abort() {
      for (const controller of running) controller.abort()
    },
    get count() {
      return running.size
    },
  }
}
