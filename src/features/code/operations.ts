import { z } from '@hono/zod-openapi'
import { Answer } from '../../operations/answer.ts'
import { defineOperation } from '../../operations/operation.ts'
import { idText } from '../../operations/schemas/fields.ts'
import { callMembers, readCall } from '../../operations/tools/tool-call.ts'
import { executeCode as execute, resumeCode } from './execute-code.ts'
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
    'The code is the body of an async function in a sandbox without files, network or clock; it has `tools.call(id, args)`, `tools.chain(steps)`, `tools.list()` and `console`. The answer is 200 in every case: `value` is what the code returned, `error` says why it failed, and `requires_authorization` names the consent that a called tool lacks. The output and the tool calls up to that point are always included. After the user has approved, send the same code with `resume`: it runs from its beginning with the same random numbers and time, and calls that had ended are answered from what was kept instead of being made again.',
  body: z.object({
    language: z.enum(LANGUAGES).default('javascript'),
    code: z.string().min(1).max(MAX_CODE_CHARACTERS),
    limits: limitsSchema.nullish(),
    resume: idText.nullish().meta({
      description:
        'Continues a run that ended with `requires_authorization`; with the same code and language',
    }),
    ...callMembers,
  }),
  takesIdempotencyKey: true,
  answer: 'The result',
  output: codeResultSchema,
  async run(broker, { body, caller, request }) {
    const { language, code, limits, resume, ...call } = body
    const run = {
      projectId: caller.projectId,
      apiKeyId: caller.id,
      language,
      code,
      limits: readLimits(limits ?? {}),
      call: readCall(call),
    }
    const slots = slotsOf(broker)
    const result =
      resume == null
        ? await execute(broker, slots, run, request.cancelSignal)
        : await resumeCode(broker, slots, { ...run, resume }, request.cancelSignal)
    // the code did nothing but the call that needs a consent
    const made = result.toolCalls.filter(({ replayed }) => replayed !== true)
    const hadNoEffect = result.authorization !== undefined && made.length <= 1
    return Answer.untyped(toCodeResponse(result), { hadNoEffect })
  },
})

function readLimits({
  timeout_ms,
  memory_mb,
  tool_calls,
  chain_steps,
}: z.output<typeof limitsSchema>): Partial<CodeLimits> {
  const chosen = (name: keyof CodeLimits, limit: number | null | undefined) =>
    limit == null ? {} : { [name]: Math.min(limit || MAX_LIMITS[name], MAX_LIMITS[name]) }
  return {
    ...chosen('timeoutMs', timeout_ms),
    ...chosen('memoryMb', memory_mb),
    ...chosen('toolCalls', tool_calls),
    ...chosen('chainSteps', chain_steps),
  }
}
