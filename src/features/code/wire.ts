import { z } from '@hono/zod-openapi'
import { duration, requiredAuthorizationSchema } from '../../operations/dialects/execution-schemas.ts'
import { authorizationToWire } from '../../operations/dialects/runs.ts'
import { jsonValue } from '../../operations/schemas/json-schemas.ts'
import { CODE_ERROR_KINDS } from './code-error.ts'
import type { CodeResult } from './run-of-code.ts'
import { LANGUAGES } from './thread-messages.ts'

export const codeResultSchema = z
  .object({
    value: jsonValue
      .nonoptional()
      .meta({ description: 'What the code returned; null if it returned nothing' }),
    stdout: z.string(),
    stderr: z.string(),
    toolCalls: z.array(
      z
        .object({
          toolId: z.string(),
          args: jsonValue.optional(),
          structured: jsonValue.optional(),
          truncated: z.boolean().optional().meta({
            description: '`args` or `structured` are left out: those of all calls exceed the limit',
          }),
          backendKind: z.enum(['mcp', 'provider', 'local']).optional(),
          executionId: z.string().optional(),
          duration,
          error: z
            .object({
              kind: z.string().meta({ description: 'The kind of a tool error, or the name of a refusal' }),
              message: z.string(),
              canRetry: z.boolean(),
            })
            .optional(),
          errorOp: z.enum(['run', 'chain']).optional(),
          replayed: z.boolean().optional().meta({
            description: 'The call was made by the run that this one resumes, and not again',
          }),
        })
        .openapi('CodeToolCall'),
    ),
    duration,
    backend: z.object({
      kind: z.literal('wasm'),
      readiness: z.literal('beta'),
      details: z.object({
        engine: z.literal('quickjs-ng'),
        language: z.enum(LANGUAGES),
        limits: z.object({
          timeout_ms: z.number().int(),
          memory_mb: z.number().int(),
          tool_calls: z.number().int(),
          chain_steps: z.number().int(),
        }),
      }),
    }),
    error: z
      .object({
        kind: z.enum(CODE_ERROR_KINDS),
        message: z.string(),
        line: z.number().int().optional(),
        column: z.number().int().optional(),
      })
      .optional(),
    requires_authorization: requiredAuthorizationSchema.extend({ toolId: z.string() }).optional(),
    resume: z.string().optional().meta({
      description:
        'Goes on after the user has approved, within a day: send it with the same code. Absent if the run was not stored',
    }),
  })
  .openapi('CodeResult')

export function toCodeResponse(result: CodeResult): Readonly<Record<string, unknown>> {
  const { value, stdout, stderr, toolCalls, durationMs, language, limits, error, authorization, resume } =
    result
  const { timeoutMs, memoryMb, toolCalls: maxCalls, chainSteps } = limits
  const wireLimits = {
    timeout_ms: timeoutMs,
    memory_mb: memoryMb,
    tool_calls: maxCalls,
    chain_steps: chainSteps,
  }
  return {
    value,
    stdout,
    stderr,
    toolCalls,
    duration: durationMs,
    backend: {
      kind: 'wasm',
      readiness: 'beta',
      details: { engine: 'quickjs-ng', language, limits: wireLimits },
    },
    ...(error && { error }),
    ...(authorization && {
      requires_authorization: { ...authorizationToWire(authorization), toolId: authorization.toolId },
    }),
    resume,
  }
}
