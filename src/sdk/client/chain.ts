import type * as Wire from '../generated/wire.ts'
import type { PendingAuthorization } from './authorization.ts'
import { toRequired } from './authorizations.ts'
import { type CallOptions, callBody, callRepetition, type NamesUser, type OnceOptions } from './tool-call.ts'
import type { ToolError } from './tool-error.ts'
import { toToolError } from './tool-outcome.ts'
import type { Transport } from './transport.ts'

/** One tool of a chain. */
export interface ChainStep {
  /** A tool by any of its names. */
  readonly tool: string
  readonly input?: object | undefined
  /** Puts the value of the step before into `input.previous`. */
  readonly usePrevious?: boolean | undefined
}

export interface ChainOptions extends CallOptions, OnceOptions {}

/** The result of a step. `tool` is the name that the step gave. */
export type ChainStepResult =
  | {
      readonly status: 'completed'
      readonly tool: string
      readonly value: Wire.JsonValue
      readonly executionId: string
      readonly durationMs: number
    }
  | { readonly status: 'failed'; readonly tool: string; readonly error: ToolError }
  | { readonly status: 'skipped'; readonly tool: string }

/** How a chain ended: switch on `status`. */
export type ChainResult<Value = Wire.JsonValue> =
  | {
      readonly status: 'completed'
      /** What the last step answered. */
      readonly value: Value
      readonly steps: readonly ChainStepResult[]
    }
  | { readonly status: 'failed'; readonly error: ToolError; readonly steps: readonly ChainStepResult[] }
  | {
      readonly status: 'requires_authorization'
      readonly authorization: PendingAuthorization
      /** The step that needs the consent, counted from 0. */
      readonly step: number
      readonly steps: readonly ChainStepResult[]
      /**
       * Continues the chain after the user has approved: once, within a day, without repeating finished steps. Absent
       * where Gatepass could not keep the chain.
       */
      readonly resume?: () => Promise<ChainResult<Value>>
      /** Continues the chain by `tools.resumeChain`, also in another process. Absent if `resume` is absent. */
      readonly resumeToken?: string
    }

/** Runs steps, or continues a chain that Gatepass has kept. */
export async function runChain<Value>(
  transport: Transport,
  what: { readonly steps: readonly ChainStep[] } | { readonly resume: string },
  options: ChainOptions & NamesUser,
  user: string | undefined,
): Promise<ChainResult<Value>> {
  const chain =
    'resume' in what
      ? what
      : {
          steps: what.steps.map(({ tool, input, usePrevious }) => ({
            toolId: tool,
            args: input as Wire.JsonObject | undefined, // what is not JSON is left out or refused
            usePrevious,
          })),
        }
  const result = await transport.call('runChain', {
    body: { ...chain, ...callBody(options, user) },
    ...callRepetition(options),
    options,
  })
  const steps = result.steps.map(toStep)
  switch (result.status) {
    case 'completed':
      return { status: 'completed', value: (result.structured ?? null) as Value, steps } // the caller names the type
    case 'failed': {
      const failed = steps.find((step) => step.status === 'failed')
      if (failed?.status !== 'failed') throw new TypeError('The chain failed, but none of its steps did.')
      return { status: 'failed', error: failed.error, steps }
    }
    case 'requires_authorization': {
      const { resume, requires_authorization: required } = result
      const { idempotencyKey: _, ...others } = options // the caller's key belongs to the first request
      return {
        status: 'requires_authorization',
        authorization: toRequired(transport, required),
        step: required.step,
        steps,
        ...(resume !== undefined && {
          resume: () => runChain<Value>(transport, { resume }, others, user),
          resumeToken: resume,
        }),
      }
    }
  }
}

function toStep(step: Wire.ChainStep): ChainStepResult {
  const { toolId: tool } = step
  switch (step.status) {
    case 'completed': {
      const { structured, executionId, duration: durationMs } = step
      return { status: 'completed', tool, value: structured ?? null, executionId, durationMs }
    }
    case 'failed':
      return { status: 'failed', tool, error: toToolError(step.error, step.executionId) }
    case 'skipped':
      return { status: 'skipped', tool }
  }
}
