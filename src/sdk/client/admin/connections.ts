import type * as Wire from '../../wire.ts'
import { createList, type List } from '../pages.ts'
import type { RequestOptions, Transport } from '../transport.ts'

/** The connections of all users, with the provider's user info of each account. */
export interface AdminConnections {
  list(filter?: {
    readonly user?: string | undefined
    readonly provider?: string | undefined
  }): List<Wire.UserConnection>
  /**
   * Stores connections of another installation or product with their tokens, at most 500 at a time; each completely or not
   * at all. Sending them again is safe.
   */
  import(
    connections: readonly Wire.ForeignConnection[],
    how?: { readonly replace?: boolean; readonly check?: boolean },
    options?: RequestOptions,
  ): Promise<readonly Wire.ImportedConnection[]>
  /** Deletes it here and revokes it at the provider. */
  delete(id: string, options?: RequestOptions): Promise<void>
}

export function createUserConnections({ call }: Transport): AdminConnections {
  return {
    list: ({ user, provider } = {}) =>
      createList((part, options) => {
        const query = { user_id: user, provider_id: provider, ...part }
        return call<'listUserConnections'>({
          method: 'GET',
          path: '/v1/admin/user_connections',
          query,
          options,
        })
      }),
    async import(connections, how = {}, options) {
      const path = '/v1/admin/user_connections/import'
      const body = { connections, ...how }
      const { items } = await call<'importConnections'>({
        method: 'POST',
        path,
        body,
        repetition: 'safe',
        options,
      })
      return items
    },
    async delete(id, options) {
      const path = '/v1/admin/user_connections/{id}'
      await call<'deleteUserConnection'>({ method: 'DELETE', path, params: { id }, options })
    },
  }
}
