import type * as Wire from '../generated/wire.ts'
import { withoutUndefined } from '../without-undefined.ts'
import { NotFound } from './errors.ts'
import { createList, type List } from './pages.ts'
import type { NamesUser, UserBinding } from './tool-call.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** A run of a tool, in the history. */
export interface Execution {
  readonly id: string
  /** The id that the tool had when it was run. */
  readonly tool: string
  readonly user?: string
  readonly type: Wire.ToolExecution['execution_type']
  readonly status: Wire.ToolExecution['execution_status']
  /** The endpoint that ran it. */
  readonly entryPoint: Wire.ToolExecution['entry_point']
  readonly outcome?: NonNullable<Wire.ToolExecution['outcome']>
  /** The `kind` of the tool's error. */
  readonly errorKind?: string
  readonly durationMs?: number
  /** Of a scheduled run: when it is to begin. */
  readonly runAt?: Date
  readonly createdAt: Date
  readonly startedAt?: Date
  readonly finishedAt?: Date
  /** The id of the API key that ran it. */
  readonly apiKeyId?: string
}

/** A run with its input and its attempts, which Gatepass keeps for scheduled runs and with `keepContent`. */
export interface ExecutionDetail extends Execution {
  readonly input?: Wire.JsonObject
  readonly attempts: readonly ExecutionAttempt[]
  /** Members that are left out, because they were altered in the database. */
  readonly unreadable: readonly ('input' | 'attempts')[]
}

export interface ExecutionAttempt {
  readonly id: string
  readonly startedAt: Date
  readonly finishedAt: Date
  readonly success: boolean
  readonly output?: Wire.AttemptOutput
  /** Why Gatepass itself could not run it. */
  readonly systemErrorMessage?: string
}

export interface ExecutionFilter {
  /** A tool by any of its names, or the id of a deleted tool. */
  readonly tool?: string | undefined
  readonly type?: Execution['type'] | undefined
  readonly status?: Execution['status'] | undefined
}

/** The history of runs: 30 days, newest first. */
export interface Executions<Who extends UserBinding = NamesUser> {
  list(filter?: ExecutionFilter & Who): List<Execution>
  get(id: string, options?: RequestOptions): Promise<ExecutionDetail>
}

/** Runs that `execute` has scheduled with `runAt`. */
export interface Scheduled {
  /** Newest first, of all users. */
  list(): List<Execution>
  /** One run, and its result in `attempts`. */
  get(id: string, options?: RequestOptions): Promise<ExecutionDetail>
  /** Cancels a run that has not begun. */
  cancel(id: string, options?: RequestOptions): Promise<Execution>
}

export function createExecutions<Who extends UserBinding>(
  transport: Transport,
  user: string | undefined,
): Executions<Who> {
  return {
    list: (filter = {} as ExecutionFilter & Who) =>
      createList((part, options) => {
        const { tool, type, status } = filter
        const query = { user_id: user ?? filter.user, tool, type, status, ...part }
        return transport.call('listExecutions', { query, options })
      }, toExecution),
    async get(id, options) {
      const execution = toDetail(await transport.call('getExecution', { params: { id }, options }))
      if (user === undefined || execution.user === user) return execution
      throw new NotFound('not_found', `The user has no execution ${JSON.stringify(id)}.`, { status: 404 })
    },
  }
}

export function createScheduled(transport: Transport): Scheduled {
  return {
    list: () =>
      createList((query, options) => transport.call('listScheduledTools', { query, options }), toExecution),
    async get(id, options) {
      return toDetail(await transport.call('getScheduledTool', { params: { id }, options }))
    },
    async cancel(id, options) {
      return toExecution(await transport.call('cancelScheduledTool', { params: { id }, options }))
    },
  }
}

function toExecution(wire: Wire.ToolExecution): Execution {
  const { run_at: runAt, started_at: startedAt, finished_at: finishedAt } = wire
  return withoutUndefined({
    id: wire.id,
    tool: wire.tool_id,
    user: wire.user_id,
    type: wire.execution_type,
    status: wire.execution_status,
    entryPoint: wire.entry_point,
    outcome: wire.outcome,
    errorKind: wire.error_kind,
    durationMs: wire.duration,
    runAt: runAt === undefined ? undefined : new Date(runAt),
    createdAt: new Date(wire.created_at),
    startedAt: startedAt === undefined ? undefined : new Date(startedAt),
    finishedAt: finishedAt === undefined ? undefined : new Date(finishedAt),
    apiKeyId: wire.api_key_id,
  })
}

function toDetail(wire: Wire.ToolExecutionDetail): ExecutionDetail {
  const { input, attempts = [], unreadable = [] } = wire
  return withoutUndefined({
    ...toExecution(wire),
    input,
    attempts: attempts.map(
      ({ id, started_at, finished_at, success, output, system_error_message: message }) =>
        withoutUndefined({
          id,
          startedAt: new Date(started_at),
          finishedAt: new Date(finished_at),
          success,
          output,
          systemErrorMessage: message,
        }),
    ),
    unreadable,
  })
}
