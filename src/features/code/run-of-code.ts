import type { ToolCall } from '../../tools/run/execution.ts'
import type { RequiredAuthorization } from '../../tools/tool-answer.ts'
import type { TracedCall } from './call-trace.ts'
import type { CodeError } from './code-error.ts'
import type { CodeLimits } from './limits.ts'
import type { Language } from './thread-messages.ts'

/** The code to run, and the options of the tool calls that it makes. */
export interface CodeRun {
  readonly projectId: string
  /** A key may use half of all slots at most. */
  readonly apiKeyId: string
  readonly language: Language
  readonly code: string
  /** Those that the caller chose. */
  readonly limits: Partial<CodeLimits>
  /** The options of every tool call. */
  readonly call: Omit<ToolCall, 'tool' | 'input' | 'entryPoint' | 'callId' | 'onEvent' | 'executionId'>
}

/** The result of a run of code. */
export interface CodeResult {
  readonly value: unknown
  readonly stdout: string
  readonly stderr: string
  readonly toolCalls: readonly TracedCall[]
  readonly durationMs: number
  readonly language: Language
  readonly limits: CodeLimits
  readonly error?: CodeError
  /** The consent that a called tool needs. It ended the run. */
  readonly authorization?: ConsentNeeded
  /** Resumes the run after that, within a day. Absent if the run is too large to be stored, or too many are stored. */
  readonly resume?: string | undefined
}

export interface ConsentNeeded extends RequiredAuthorization {
  readonly toolId: string
}
