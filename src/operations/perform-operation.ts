import type { z } from '@hono/zod-openapi'
import type { Broker } from '../broker.ts'
import { parseOnce } from '../parsing/parse.ts'
import { Answer } from './answer.ts'
import type { Operation, OperationInput, OtherAnswers } from './operation.ts'

/** Who performs an operation, and for which request. */
export type PerformedBy = Pick<OperationInput<unknown, unknown, unknown>, 'caller' | 'request'>

export interface GivenInput {
  readonly params?: object
  readonly query?: object
  readonly body?: object
}

/**
 * Runs an operation outside its own endpoint and returns its output. The caller's role is not checked. Throws
 * `invalid_request` for input that the operation refuses, and what the operation throws.
 */
export async function performOperation<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Output extends z.ZodType,
  Others extends OtherAnswers,
>(
  broker: Broker,
  operation: Operation<Params, Query, Body, Output, Others>,
  { caller, request }: PerformedBy,
  given: GivenInput = {},
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
    request,
  })
  return (result instanceof Answer ? result.value : result) as z.output<Output> // none with a stream is performed so
}

const known = new WeakMap<Broker, ReadonlyMap<string, Operation>>()

/** Makes the operations of the API known, for those that perform others. The list imports all features, so none can import it. */
export function knowOperations(broker: Broker, operations: readonly Operation[]): void {
  known.set(broker, new Map(operations.map((operation) => [operation.id, operation])))
}

/** Finds an operation by its id: one of another feature, which may not be there. */
export function findOperation(broker: Broker, id: string): Operation | undefined {
  return known.get(broker)?.get(id)
}
