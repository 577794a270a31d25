import type * as Wire from '../../generated/wire.ts'
import { createList, type List } from '../pages.ts'
import type { RequestOptions, Transport } from '../transport.ts'

/** The providers that Gatepass knows. */
export interface ProviderCatalogue {
  list(query?: CatalogueQuery): List<Wire.CatalogueEntry>
  /** The whole definition, in the form of `/schemas/provider.json`. */
  get(id: string, options?: RequestOptions): Promise<Wire.JsonObject>
}

export interface CatalogueQuery {
  /** A part of the id or of a name. */
  readonly search?: string
  readonly category?: string
  readonly verified?: boolean
}

/** Provider entries. Answers never hold their secrets. */
export interface AdminProviders {
  list(): List<Wire.AuthProviderResponse>
  get(id: string, options?: RequestOptions): Promise<Wire.AuthProviderResponse>
  /** With a `provider_id` of the catalogue only the client is needed. The answer has the redirect URI to register. */
  create(
    provider: Wire.AuthProviderCreateRequest,
    options?: RequestOptions,
  ): Promise<Wire.AuthProviderResponse>
  /**
   * Changes the members that are given. A new client id or endpoint requires new consents of the users, unless
   * `keep_connections` is set.
   */
  update(
    id: string,
    changes: Wire.AuthProviderUpdateRequest,
    options?: RequestOptions,
  ): Promise<Wire.AuthProviderResponse>
  /** Deletes the entry with its connections, which are not revoked at the provider. */
  delete(id: string, options?: RequestOptions): Promise<void>
  /** The providers that `provider_id` may name when an entry is created. */
  readonly catalogue: ProviderCatalogue
}

export function createProviders({ call }: Transport): AdminProviders {
  return {
    list: () => createList((query, options) => call('listAuthProviders', { query, options })),
    get: (id, options) => call('getAuthProvider', { params: { id }, options }),
    create: (body, options) => call('createAuthProvider', { body, options }),
    update: (id, body, options) => call('updateAuthProvider', { params: { id }, body, options }),
    async delete(id, options) {
      await call('deleteAuthProvider', { params: { id }, options })
    },
    catalogue: {
      list: ({ verified, ...filter } = {}) =>
        createList((page, options) => {
          const query = {
            ...filter,
            ...(verified !== undefined && { verified: `${verified}` as const }),
            ...page,
          }
          return call('listProviderCatalogue', { query, options })
        }),
      get: (id, options) => call('getCatalogueDefinition', { params: { id }, options }),
    },
  }
}
