import { BrokerError } from '../../domain/errors.ts'

/** The tool calls that run in this process. */
export interface RunningCalls {
  /** Throws `rate_limited` where the owner has as many calls under way as it may have. */
  checkRoom(owner: string): void
  /** Runs a call. It counts until it ends, also when its client has gone. */
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

/** Calls of one owner at a time, as for requests through the proxy. */
const MAX_PER_OWNER = 128

export function createRunningCalls(): RunningCalls {
  const owners = new Map<string, number>()
  const running = new Set<AbortController>()
  const cancellable = new Map<string, AbortController>()
  let idle = Promise.withResolvers<void>()
  idle.resolve()

  const keyOf = (connection: string, requestId: unknown) => JSON.stringify([connection, requestId])

  function checkRoom(owner: string): void {
    const others = owners.get(owner) ?? 0
    if (others >= MAX_PER_OWNER)
      throw new BrokerError(
        'rate_limited',
        `There are ${others} tool calls under way for you. Wait for some to end.`,
        { retryAfter: 1 },
      )
  }

  return {
    checkRoom,
    async run({ owner, signal, connection, requestId }, run) {
      checkRoom(owner)
      const controller = new AbortController()
      const key = connection === undefined ? undefined : keyOf(connection, requestId)
      if (running.size === 0) idle = Promise.withResolvers()
      running.add(controller)
      owners.set(owner, (owners.get(owner) ?? 0) + 1)
      if (key !== undefined) cancellable.set(key, controller)
      const signals = signal === undefined ? [controller.signal] : [controller.signal, signal]
      try {
        return await run(AbortSignal.any(signals))
      } finally {
        running.delete(controller)
        const left = (owners.get(owner) ?? 1) - 1
        if (left > 0) owners.set(owner, left)
        else owners.delete(owner)
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
