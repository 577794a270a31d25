import type * as Wire from '../../generated/wire.ts'
import { createList, type List } from '../pages.ts'
import type { RequestOptions, Transport } from '../transport.ts'

/** The connections of all users. Lists show the provider's user info of each account. */
export interface AdminConnections {
  list(filter?: {
    readonly user?: string | undefined
    readonly provider?: string | undefined
  }): List<Wire.UserConnection>
  /**
   * Stores connections of another installation or product with their tokens, at most 500 in one call. Each connection
   * is stored completely or not at all, and the call may be repeated. `replace` overwrites connections that exist
   * already; `check` refreshes each stored connection once.
   */
  import(
    connections: readonly Wire.ForeignConnection[],
    how?: { readonly replace?: boolean; readonly check?: boolean },
    options?: RequestOptions,
  ): Promise<readonly Wire.ImportedConnection[]>
  /** Deletes the connection from Gatepass and revokes its tokens at the provider. */
  delete(id: string, options?: RequestOptions): Promise<void>
}

export function createUserConnections({ call }: Transport): AdminConnections {
  return {
    list: ({ user, provider } = {}) =>
      createList((part, options) => {
        const query = { user_id: user, provider_id: provider, ...part }
        return call('listUserConnections', { query, options })
      }),
    async import(connections, how = {}, options) {
      const body = { connections, ...how }
      const { items } = await call('importConnections', { body, options })
      return items
    },
    async delete(id, options) {
      await call('deleteUserConnection', { params: { id }, options })
    },
  }
}
