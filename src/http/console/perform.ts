import type { z } from '@hono/zod-openapi'
import type { Operation, OtherAnswers } from '../../operations/operation.ts'
import { type GivenInput, performOperation } from '../../operations/perform-operation.ts'
import { RequestOf } from '../endpoint/add-operation.ts'
import type { OnPage } from './routes.ts'

/**
 * Runs an operation of the API for the operator and returns its output. Throws `invalid_request` for a body that the
 * operation refuses, and what the operation throws.
 */
export function perform<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Output extends z.ZodType,
  Others extends OtherAnswers,
>(
  { c, broker, caller }: OnPage,
  operation: Operation<Params, Query, Body, Output, Others>,
  given: GivenInput = {},
): Promise<z.output<Output>> {
  return performOperation(broker, operation, { caller, request: new RequestOf(c) }, given)
}
