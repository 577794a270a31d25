import type * as Wire from '../generated/wire.ts'
import { toRequired } from './authorizations.ts'
import { AuthorizationRequired, ConnectionError, GatepassError } from './errors.ts'
import { toError } from './refusal.ts'
import { readEvents } from './server-sent-events.ts'
import { toToolError } from './tool-outcome.ts'
import type { Transport } from './transport.ts'

/** The progress that the tool reports. */
export interface ProgressEvent {
  readonly type: 'progress'
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** A part of the result, sent before the tool ends. */
export interface ChunkEvent {
  readonly type: 'chunk'
  readonly data: Wire.JsonValue
}

/** The tool has answered: the last event. */
export interface DoneEvent<Value = Wire.JsonValue> {
  readonly type: 'done'
  readonly value: Value
  readonly executionId: string
  /** How long it took, in milliseconds. */
  readonly durationMs: number
}

/** The tool has failed, the user must approve first, or Gatepass has refused: the last event. */
export interface ErrorEvent {
  readonly type: 'error'
  /** A `ToolError`, an `AuthorizationRequired`, or another error of Gatepass. */
  readonly error: GatepassError
}

/** `progress` and `chunk` in any number, then one `done` or `error`. */
export type StreamEvent<Value = Wire.JsonValue> = ProgressEvent | ChunkEvent | DoneEvent<Value> | ErrorEvent

/**
 * The events of a run. The run begins when the stream is iterated, or when `result` is read. Leaving the loop before
 * the last event cancels the run.
 */
export interface ToolStream<Value = Wire.JsonValue> extends AsyncIterable<StreamEvent<Value>> {
  /** The value of the tool; rejects with the error if the run fails. Starts the run if no loop has. */
  readonly result: Promise<Value>
}

/** Creates the stream of a run. `open` sends the request and is called once. `signal` is that of the request. */
export function createToolStream<Value>(
  transport: Transport,
  open: () => Promise<Response>,
  signal: AbortSignal | undefined,
): ToolStream<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>()
  promise.catch(() => {}) // a caller that reads only the events gets the error there
  let isBegun = false

  async function* read(): AsyncGenerator<StreamEvent<Value>, void> {
    try {
      const { body } = await open()
      for await (const { data } of body === null ? [] : readEvents(body)) {
        const event = toEvent<Value>(transport, JSON.parse(data))
        if (event.type === 'done') resolve(event.value)
        if (event.type === 'error') reject(event.error)
        yield event
        if (event.type === 'done' || event.type === 'error') return
      }
      throw incomplete()
    } catch (error) {
      const thrown = toThrown(error, signal)
      reject(thrown)
      throw thrown
    }
  }

  function begin(): AsyncGenerator<StreamEvent<Value>, void> {
    if (isBegun) throw new TypeError('The events of a run can be read once.')
    isBegun = true
    const events = read()
    const leave = events.return.bind(events)
    // rejects `result` when the caller leaves early; not in a `finally` of `read`, which does not run if the caller
    // leaves before the first event. After the last event `result` is settled already
    events.return = (value) => leave(value).finally(() => reject(incomplete()))
    return events
  }

  return {
    [Symbol.asyncIterator]: begin,
    get result() {
      if (!isBegun) void drain(begin())
      return promise
    },
  }
}

/** Returns errors of this library and the reason of an abort unchanged. Any other error means a broken connection. */
function toThrown(error: unknown, signal: AbortSignal | undefined): unknown {
  if (error instanceof GatepassError) return error
  return signal?.aborted ? signal.reason : incomplete(error)
}

function incomplete(cause?: unknown): ConnectionError {
  return new ConnectionError('connection_error', 'The stream ended before the end of the run.', { cause })
}

async function drain(events: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const _ of events);
  } catch {
    // `result` rejects with the same error
  }
}

function toEvent<Value>(transport: Transport, wire: Wire.StreamEvent): StreamEvent<Value> {
  switch (wire.kind) {
    case 'progress':
      return { type: 'progress', ...wire.data }
    case 'chunk':
      return { type: 'chunk', data: wire.data }
    case 'done': {
      const { executionId, duration, structured = null } = wire.data
      // the caller names the type `Value`
      return { type: 'done', value: structured as Value, executionId, durationMs: duration }
    }
    case 'error':
      return { type: 'error', error: toStreamError(transport, wire.data) }
  }
}

function toStreamError(transport: Transport, data: Wire.ErrorEvent['data']): GatepassError {
  if ('name' in data) return toError(data, {})
  if ('error' in data) return toToolError(data.error, data.executionId)
  return new AuthorizationRequired(toRequired(transport, data.requires_authorization))
}
