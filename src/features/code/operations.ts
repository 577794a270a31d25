import { z } from '@hono/zod-openapi'
import { Answer } from '../../operations/answer.ts'
import { defineOperation } from '../../operations/operation.ts'
import { callMembers, readCall } from '../../operations/tools/tool-call.ts'
import { executeCode as execute } from './execute-code.ts'
import { type CodeLimits, DEFAULT_LIMITS, MAX_CODE_CHARACTERS, MAX_LIMITS } from './limits.ts'
import { slotsOf } from './run-slots.ts'
import { LANGUAGES } from './thread-messages.ts'
import { codeResultSchema, toCodeResponse } from './wire.ts'

const limit = (name: keyof CodeLimits, unit: string) =>
  z
    .number()
    .int()
    .min(0)
    .nullish()
    .meta({
      description: `${unit}; ${DEFAULT_LIMITS[name]} by default. The maximum is ${MAX_LIMITS[name]}: 0 and numbers above it count as the maximum`,
    })

const limitsSchema = z.strictObject({
  timeout_ms: limit(
    'timeoutMs',
    'Milliseconds from the first statement of the code on, with the time of its tool calls',
  ),
  memory_mb: limit('memoryMb', 'Megabytes'),
  tool_calls: limit('toolCalls', 'The number of tool calls; each step of a chain counts'),
  chain_steps: limit('chainSteps', 'The number of steps of one chain'),
})

export const executeCode = defineOperation({
  id: 'executeCode',
  method: 'post',
  path: '/v1/code/execute',
  role: 'caller',
  keysOfUsers: 'user_id',
  tag: 'Running tools',
  summary: 'Run a piece of code that calls tools',
  description:
    'The code is the body of an async function in a sandbox without files, network or clock; it has `tools.call(id, args)`, `tools.chain(steps)`, `tools.list()` and `console`. The answer is 200 in every case: `value` is what the code returned, `error` says why it failed, and `requires_authorization` names the consent that a called tool lacks. The output and the tool calls up to that point are always included.',
  body: z.object({
    language: z.enum(LANGUAGES).default('javascript'),
    code: z.string().min(1).max(MAX_CODE_CHARACTERS),
    limits: limitsSchema.nullish(),
    ...callMembers,
  }),
  takesIdempotencyKey: true,
  answer: 'The result',
  output: codeResultSchema,
  async run(broker, { body, caller, request }) {
    const { language, code, limits, ...call } = body
    const run = {
      projectId: caller.projectId,
      apiKeyId: caller.id,
      language,
      code,
      limits: readLimits(limits ?? {}),
      call: readCall(call),
    }
    const result = await execute(broker, slotsOf(broker), run, request.cancelSignal)
    // the code did nothing but the call that needs a consent
    const hadNoEffect = result.authorization !== undefined && result.toolCalls.length <= 1
    return Answer.untyped(toCodeResponse(result), { hadNoEffect })
  },
})

function readLimits({
  timeout_ms,
  memory_mb,
  tool_calls,
  chain_steps,
}: z.output<typeof limitsSchema>): CodeLimits {
  const chosen = (name: keyof CodeLimits, limit: number | null | undefined) =>
    Math.min((limit ?? DEFAULT_LIMITS[name]) || MAX_LIMITS[name], MAX_LIMITS[name])
  return {
    timeoutMs: chosen('timeoutMs', timeout_ms),
    memoryMb: chosen('memoryMb', memory_mb),
    toolCalls: chosen('toolCalls', tool_calls),
    chainSteps: chosen('chainSteps', chain_steps),
  }
}
