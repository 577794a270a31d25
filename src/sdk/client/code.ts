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
        /** Run the code again after the user has approved. It does not continue where it ended, but starts again. */
        readonly authorization: PendingAuthorization
        /** The id of the tool that needs the consent. */
        readonly tool: string
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
  return {
    async execute<Value>(code: string, options = {} as CodeOptions & Who): Promise<CodeOutcome<Value>> {
      const { language, limits: { timeoutMs, memoryMb, toolCalls, chainSteps } = {} } = options
      const limits = {
        timeout_ms: timeoutMs,
        memory_mb: memoryMb,
        tool_calls: toolCalls,
        chain_steps: chainSteps,
      }
      const result = await transport.call('executeCode', {
        body: { code, language, limits, ...callBody(options, user) },
        ...callRepetition(options),
        options,
      })
      const { stdout, stderr, toolCalls: calls, duration, error, requires_authorization: required } = result
      const ran = { stdout, stderr, toolCalls: calls, durationMs: duration }
      if (error !== undefined) return { ...ran, outcome: 'error', error }
      if (required !== undefined) {
        const authorization = toRequired(transport, required)
        return { ...ran, outcome: 'requires_authorization', authorization, tool: required.toolId }
      }
      return { ...ran, outcome: 'value', value: result.value as Value } // the caller names the type
    },
  }
}
