import type { z } from '@hono/zod-openapi'
import { Answer } from '../../operations/answer.ts'
import type { Operation, OtherAnswers } from '../../operations/operation.ts'
import { parseOnce } from '../../parsing/parse.ts'
import { RequestOf } from '../endpoint/add-operation.ts'
import type { OnPage } from './routes.ts'

/**
 * Runs an operation of the API for the operator and returns its output. Throws `invalid_request` for a body that the
 * operation refuses, and what the operation throws.
 */
export async function perform<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Output extends z.ZodType,
  Others extends OtherAnswers,
>(
  { c, broker, caller }: OnPage,
  operation: Operation<Params, Query, Body, Output, Others>,
  given: { readonly params?: object; readonly query?: object; readonly body?: object } = {},
): Promise<z.output<Output>> {
  const read = <Schema extends z.ZodType>(
    schema: Schema | undefined,
    value: unknown,
    what: Parameters<typeof parseOnce>[2],
  ) => (schema && parseOnce(schema, value, what)) as z.output<Schema> // without a schema the type is `undefined` too
  const result = await operation.run(broker, {
    caller,
    params: read(operation.params, given.params ?? {}, 'the path'),
    query: read(operation.query, given.query ?? {}, 'the query'),
    body: read(operation.body, given.body ?? {}, 'the body'),
    request: new RequestOf(c),
  })
  return (result instanceof Answer ? result.value : result) as z.output<Output> // pages run none with a stream
}
