import type * as Wire from '../generated/wire.ts'
import { withoutUndefined } from '../without-undefined.ts'
import { NotFound } from './errors.ts'
import { createList, type List } from './pages.ts'
import type { NamesUser, UserBinding } from './tool-call.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** A user's standing grant at a provider. It never holds the token. */
export interface Connection {
  readonly id: string
  readonly user: string
  /** The id of the provider entry. */
  readonly provider: string
  readonly account: { readonly id: string; readonly name: string }
  readonly scopes: readonly string[]
  /** `needs_authorization`: the user must approve again; `statusReason` says why. */
  readonly status: Wire.Connection['status']
  readonly statusReason?: NonNullable<Wire.Connection['status_reason']>
  /** When the access token expires. Gatepass refreshes it, if the provider gave a refresh token. */
  readonly expiresAt?: Date
  readonly createdAt: Date
  readonly lastUsedAt?: Date
  /** The account that is used when a call names none. */
  readonly isDefault: boolean
}

export interface DeletedConnection {
  readonly id: string
  /** What became of the grant at the provider. Gatepass has deleted the connection in every case. */
  readonly revocation: Wire.DeletedConnection['revocation']
}

export interface ConnectionFilter {
  /** The id of a provider entry, or a well-known provider. */
  readonly provider?: string | undefined
}

/** The connections of users. */
export interface Connections<Who extends UserBinding = NamesUser> {
  list(filter?: ConnectionFilter & Who): List<Connection>
  get(id: string, options?: RequestOptions): Promise<Connection>
  /** Makes the connection the default: calls that name no account use it. */
  setDefault(id: string, options?: RequestOptions): Promise<Connection>
  /** Deletes the connection in Gatepass and revokes the grant at the provider. */
  delete(id: string, options?: RequestOptions): Promise<DeletedConnection>
}

export function createConnections<Who extends UserBinding>(
  transport: Transport,
  user: string | undefined,
): Connections<Who> {
  async function get(id: string, options?: RequestOptions): Promise<Connection> {
    const connection = toConnection(await transport.call('getConnection', { params: { id }, options }))
    if (user === undefined || connection.user === user) return connection
    throw new NotFound('not_found', `The user has no connection ${JSON.stringify(id)}.`, { status: 404 })
  }

  /** Throws `NotFound` for another user's connection: the API key may use it, but a client for one user must not. */
  async function checkOwn(id: string, options: RequestOptions | undefined): Promise<void> {
    if (user !== undefined) await get(id, options)
  }

  return {
    list: (filter = {} as ConnectionFilter & Who) =>
      createList((part, options) => {
        const query = { user_id: user ?? filter.user, provider_id: filter.provider, ...part }
        return transport.call('listConnections', { query, options })
      }, toConnection),
    get,
    async setDefault(id, options) {
      await checkOwn(id, options)
      const body = { default: true } as const
      return toConnection(await transport.call('setDefaultConnection', { params: { id }, body, options }))
    },
    async delete(id, options) {
      await checkOwn(id, options)
      const { id: deleted, revocation } = await transport.call('deleteConnection', {
        params: { id },
        options,
      })
      return { id: deleted, revocation }
    },
  }
}

function toConnection(wire: Wire.Connection): Connection {
  const { expires_at: expires, last_used_at: used } = wire
  return withoutUndefined({
    id: wire.id,
    user: wire.user_id,
    provider: wire.provider_id,
    account: wire.account,
    scopes: wire.scopes,
    status: wire.status,
    statusReason: wire.status_reason,
    expiresAt: expires === undefined ? undefined : new Date(expires),
    createdAt: new Date(wire.created_at),
    lastUsedAt: used === undefined ? undefined : new Date(used),
    isDefault: wire.default,
  })
}
