import type * as Wire from '../generated/wire.ts'
import { NotFound } from './errors.ts'
import type { RequestOptions, Transport } from './transport.ts'

/**
 * Explains an authorization or a connection. With a `user` it throws `NotFound` for one of another user, which the API key
 * could read.
 */
export async function explain(
  transport: Transport,
  user: string | undefined,
  id: string,
  options?: RequestOptions,
): Promise<Wire.Explanation> {
  const explained = await transport.call('explainAuthorization', {
    // answers for connections too
    params: { id },
    options,
  })
  if (user === undefined || explained.user_id === user) return explained
  throw new NotFound('not_found', `The user has no ${JSON.stringify(id)}.`, { status: 404 })
}
