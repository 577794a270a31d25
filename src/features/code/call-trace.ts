import { wholeMilliseconds } from '../../domain/clock.ts'
import { fromJsonText, jsonText, LargeJson } from '../../tools/large-json.ts'
import type { RunBackend, RunResult } from '../../tools/run/run-tool.ts'
import type { CallError } from './code-error.ts'
import { MAX_TRACE_CHARACTERS } from './limits.ts'

/** One tool call of the code, as `toolCalls` lists it. */
export interface TracedCall {
  /** The tool's id; of an unknown tool, the id that the code used. */
  readonly toolId: string
  readonly args?: unknown
  /** The result that the code received. */
  readonly structured?: unknown
  /** `args` or `structured` is left out: the arguments and results of all calls together would exceed the limit. */
  readonly truncated?: true
  readonly backendKind?: RunBackend['kind']
  readonly executionId?: string
  /** Milliseconds. */
  readonly duration: number
  readonly error?: CallError
  /** Whether the call that failed was a single call or a step of a chain. */
  readonly errorOp?: Operation
  /** The call was made by an earlier run, which this one resumes. */
  readonly replayed?: true
}

/** How a tool was run. */
export type Ran = Pick<RunResult, 'executionId' | 'durationMs' | 'backend'>

export type Operation = 'run' | 'chain'

/** A call that has begun. The code that makes the call reports its progress and its end here. */
export interface OpenCall {
  /** Reports the tool's id, once the tool is found. */
  named(toolId: string): void
  succeeded(structured: unknown, ran: Ran | undefined): void
  failed(error: CallError, ran?: Ran): void
}

interface Entry {
  toolId: string
  readonly args: string | undefined
  readonly begun: number
  readonly operation: Operation
  readonly replayed: boolean
  ran?: Ran
  structured?: string | undefined
  error?: CallError
  duration?: number
  truncated?: true
}

/** The tool calls of the code in the order in which they began, with those that had not ended when the run ended. */
export interface CallTrace {
  begin(
    toolId: string,
    args: unknown,
    operation: Operation,
    options: { readonly replayed: boolean },
  ): OpenCall
  list(): TracedCall[]
}

/** The most UTF-8 bytes of one UTF-16 code unit. */
const MAX_BYTES_OF_CHARACTER = 3

const NOT_ENDED: CallError = {
  kind: 'cancelled',
  message: 'The run ended before this call did. It is not known whether the tool has done something.',
  canRetry: false,
}

export function createTrace(): CallTrace {
  const entries: Entry[] = []
  let room = MAX_TRACE_CHARACTERS

  /** Copies the value as JSON text, which takes less memory than the value. `undefined` if there is no room left. */
  function kept(value: unknown): string | undefined {
    if (value instanceof LargeJson && value.bytes.length > room * MAX_BYTES_OF_CHARACTER) return undefined
    const text = jsonText(value)
    if (text.length > room) return undefined
    room -= text.length
    return text
  }

  return {
    begin(toolId, args, operation, { replayed }) {
      const copy = kept(args)
      const entry: Entry = { toolId, args: copy, begun: performance.now(), operation, replayed }
      if (copy === undefined) entry.truncated = true
      entries.push(entry)
      const end = (ran: Ran | undefined) => {
        entry.duration = ran?.durationMs ?? performance.now() - entry.begun
        if (ran !== undefined) entry.ran = ran
      }
      return {
        named(id) {
          entry.toolId = id
        },
        succeeded(structured, ran) {
          end(ran)
          entry.structured = kept(structured ?? null)
          if (entry.structured === undefined) entry.truncated = true
        },
        failed(error, ran) {
          end(ran)
          entry.error = error
        },
      }
    },

    list() {
      return entries.map((entry) => {
        const { toolId, args, structured, truncated, begun, operation, ran, duration } = entry
        const error = duration === undefined ? NOT_ENDED : entry.error
        const kind = ran?.backend?.kind
        return {
          toolId,
          ...(args !== undefined && { args: fromJsonText(args) }),
          ...(structured !== undefined && { structured: fromJsonText(structured) }),
          ...(truncated && { truncated }),
          ...(kind !== undefined && { backendKind: kind }),
          ...(ran !== undefined && { executionId: ran.executionId }),
          duration: wholeMilliseconds(duration ?? performance.now() - begun),
          ...(error && { error, errorOp: operation }),
          ...(entry.replayed && { replayed: true as const }),
        }
      })
    },
  }
}
