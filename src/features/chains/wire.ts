import { z } from '@hono/zod-openapi'
import { requiredAuthorizationSchema } from '../../operations/dialects/execution-schemas.ts'
import { failure, value } from '../../operations/dialects/run-schemas.ts'
import {
  authorizationToWire,
  resultToWire,
  runErrorToWire,
  type WireObject,
} from '../../operations/dialects/runs.ts'
import { jsonValue } from '../../operations/schemas/json-schemas.ts'
import type { ChainResult, ChainStepResult } from './run-chain.ts'

const step = <Status extends string>(status: Status) => ({ toolId: z.string(), status: z.literal(status) })

const chainStepSchema = z
  .union([
    z.object({ ...step('completed'), ...value }).openapi('ChainStepCompleted'),
    z
      .object({ ...step('failed'), ...failure })
      .partial({ executionId: true, duration: true })
      .openapi('ChainStepFailed'),
    z.object(step('skipped')).openapi('ChainStepSkipped'),
  ])
  .openapi('ChainStep')

const steps = z.array(chainStepSchema)
export const chainResultSchema = z
  .discriminatedUnion('status', [
    z
      .object({
        status: z.literal('completed'),
        structured: jsonValue.optional().meta({ description: 'The result of the last step' }),
        steps,
      })
      .openapi('ChainCompleted'),
    z.object({ status: z.literal('failed'), steps }).openapi('ChainFailed'),
    z
      .object({
        status: z.literal('requires_authorization'),
        steps,
        requires_authorization: requiredAuthorizationSchema.extend({
          step: z.number().int().meta({ description: 'Counted from 0' }),
          toolId: z.string(),
        }),
        resume: z.string().optional().meta({
          description: 'Continues the chain, once, within a day. Absent if the chain was not stored',
        }),
      })
      .openapi('ChainRequiresAuthorization'),
  ])
  .openapi('ChainResult')

export function toChainResponse(result: ChainResult): WireObject {
  const steps = result.steps.map(stepToWire)
  switch (result.status) {
    case 'completed': {
      const { status, structured } = result
      return { status, structured, steps }
    }
    case 'failed':
      return { status: result.status, steps }
    case 'authorization_required': {
      const { step, toolId, authorization, resume } = result
      return {
        status: 'requires_authorization',
        steps,
        requires_authorization: { step, toolId, ...authorizationToWire(authorization) },
        resume,
      }
    }
  }
}

function stepToWire(step: ChainStepResult): WireObject {
  const { toolId, status } = step
  if ('result' in step) return { toolId, status, ...resultToWire(step.result) }
  return { toolId, status, ...('error' in step && { error: runErrorToWire(step.error) }) }
}
