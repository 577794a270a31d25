import { z } from '@hono/zod-openapi'
import { Answer } from '../../operations/answer.ts'
import { defineOperation } from '../../operations/operation.ts'
import { idText } from '../../operations/schemas/fields.ts'
import {
  callMembers,
  otherNameOf,
  readCall,
  readRun,
  readTool,
  runsTool,
} from '../../operations/tools/tool-call.ts'
import { MAX_CHAIN_STEPS, resumeChain, runChain as run } from './run-chain.ts'
import { chainResultSchema, toChainResponse } from './wire.ts'

const stepSchema = runsTool('toolId', {
  usePrevious: z.boolean().nullish().meta({
    description: 'Puts the result of the previous step into `args.previous`',
  }),
  use_previous: otherNameOf('usePrevious', z.boolean()),
})

export const runChain = defineOperation({
  id: 'runChain',
  method: 'post',
  path: '/v1/tools/run_chain',
  role: 'caller',
  keysOfUsers: 'user_id',
  tag: 'Running tools',
  summary: 'Run several tools in a row',
  description:
    'Answers `status`, `structured` (of the last step) and the status of each step: `completed`, `failed` or `skipped`. The first step that fails ends the chain. A step that needs consent ends it with `requires_authorization`, which names the step, and `resume`: send `resume` (once, within a day) after the user has approved, and no finished step is run again.',
  body: z.object({
    steps: z.array(stepSchema).max(MAX_CHAIN_STEPS).nullish(),
    resume: idText.nullish(),
    ...callMembers,
  }),
  takesIdempotencyKey: true,
  answer: 'The result',
  output: chainResultSchema,
  async run(broker, { body, caller: { projectId }, request }) {
    const { steps: givenSteps, resume, ...call } = body
    const steps = givenSteps?.map((step) => {
      const usePrevious = step.usePrevious ?? step.use_previous
      const { toolId, args } = readRun(step)
      return {
        toolId,
        ...(readTool(step).input && { args }),
        ...(usePrevious != null && { usePrevious }),
      }
    })
    const chain = { projectId, ...readCall(call) }
    const result =
      resume == null
        ? await run(broker, chain, steps ?? [], request.cancelSignal)
        : await resumeChain(broker, chain, { resume, steps }, request.cancelSignal)
    return Answer.untyped(toChainResponse(result))
  },
})
