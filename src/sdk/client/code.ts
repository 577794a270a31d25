import type * as Wire from '../generated/wire.ts'
import type { PendingAuthorization } from './authorization.ts'
import { toRequired } from './authorizations.ts'
import {
  type CallOptions,
  callBody,
  callRepetition,
  type NamesUser,
  type OnceOptions,
  type UserBinding,
} from './tool-call.ts'
import type { Transport } from './transport.ts'

export interface CodeOptions extends CallOptions, OnceOptions {
  /** `javascript` by default. Types of TypeScript are erased, not checked. */
  readonly language?: 'javascript' | 'typescript' | undefined
  readonly limits?: CodeLimits | undefined
  /** The `resumeToken` of an earlier run of the same code and user, to continue it in this or another process. */
  readonly resume?: string | undefined
}

/** What a run of code may use. 0, and numbers above the maximum, mean the maximum. */
export interface CodeLimits {
  /** From the first statement of the code on, including the time of tool calls; 30,000 by default, at most 120,000. */
  readonly timeoutMs?: number | undefined
  /** 64 by default, at most 256. */
  readonly memoryMb?: number | undefined
  /** Tools called, each step of a chain counted; 100 by default, at most 10,000. */
  readonly toolCalls?: number | undefined
  /** Steps of one chain; 100 by default, at most 1,000. */
  readonly chainSteps?: number | undefined
}

interface FinishedCode {
  readonly stdout: string
  readonly stderr: string
  /** The tool calls of the code, in the order in which they began. */
  readonly toolCalls: readonly Wire.CodeToolCall[]
  /** How long the run took. */
  readonly durationMs: number
}

/** How a run of code ended: switch on `outcome`. Each has the output and the tool calls up to that point. */
export type CodeOutcome<Value = Wire.JsonValue> = FinishedCode &
  (
    | { readonly outcome: 'value'; readonly value: Value }
    | { readonly outcome: 'error'; readonly error: NonNullable<Wire.CodeResult['error']> }
    | {
        readonly outcome: 'requires_authorization'
        readonly authorization: PendingAuthorization
        /** The id of the tool that needs the consent. */
        readonly tool: string
        /**
         * Continues the run after the user has approved, within a day: calls that had ended are not made again. Absent where
         * Gatepass could not keep the run; then run the code again.
         */
        readonly resume?: () => Promise<CodeOutcome<Value>>
        /** Continues the run by the option `resume`, also in another process. Absent if `resume` is absent. */
        readonly resumeToken?: string
      }
  )

/** Code that calls tools. */
export interface Code<Who extends UserBinding = NamesUser> {
  /**
   * Runs the body of an async function in a sandbox that has `tools.call(id, args)`, `tools.chain(steps)`, `tools.list()`
   * and `console`.
   */
  execute<Value = Wire.JsonValue>(code: string, options?: CodeOptions & Who): Promise<CodeOutcome<Value>>
}

export function createCode<Who extends UserBinding>(
  transport: Transport,
  user: string | undefined,
): Code<Who> {
  const client: Code<Who> = {
    async execute<Value>(code: string, options = {} as CodeOptions & Who): Promise<CodeOutcome<Value>> {
      const { language, resume, limits: { timeoutMs, memoryMb, toolCalls, chainSteps } = {} } = options
      const limits = {
        timeout_ms: timeoutMs,
        memory_mb: memoryMb,
        tool_calls: toolCalls,
        chain_steps: chainSteps,
      }
      const result = await transport.call('executeCode', {
        body: { code, language, limits, resume, ...callBody(options, user) },
        ...callRepetition(options),
        options,
      })
      const { stdout, stderr, toolCalls: calls, duration, error, requires_authorization: required } = result
      const ran = { stdout, stderr, toolCalls: calls, durationMs: duration }
      if (error !== undefined) return { ...ran, outcome: 'error', error }
      if (required !== undefined) {
        const authorization = toRequired(transport, required)
        const { resume: resumeToken } = result
        const { idempotencyKey: _, ...others } = options // the caller's key belongs to this request
        return {
          ...ran,
          outcome: 'requires_authorization',
          authorization,
          tool: required.toolId,
          ...(resumeToken !== undefined && {
            resume: () =>
              client.execute<Value>(code, { ...others, resume: resumeToken } as CodeOptions & Who),
            resumeToken,
          }),
        }
      }
      return { ...ran, outcome: 'value', value: result.value as Value } // the caller names the type
    },
  }
  return client
}
