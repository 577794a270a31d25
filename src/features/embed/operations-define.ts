import type { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { None, Operation, OperationInput, Result, Sent } from '../../operations/operation.ts'
import type { CurrentSession } from './connect-session.ts'

/** An operation of a page of an application, which has the token of a connect session in place of an API key. */
export interface SessionOperation<
  Query extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> extends Omit<Operation<None, Query, z.ZodUndefined, Output>, 'role' | 'run'> {
  run(
    broker: Broker,
    input: Pick<OperationInput<unknown, z.output<Query>, undefined>, 'query' | 'request'> & {
      readonly session: CurrentSession
    },
  ): Promise<Result<Sent<z.input<Output>>>>
}

export function defineSessionOperation<
  Query extends z.ZodObject = None,
  Output extends z.ZodType = z.ZodVoid,
>(operation: SessionOperation<Query, Output>): SessionOperation<Query, Output> {
  return operation
}
