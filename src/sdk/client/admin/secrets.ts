import type * as Wire from '../../generated/wire.ts'
import { createList, type List } from '../pages.ts'
import type { RequestOptions, Transport } from '../transport.ts'

/** Secrets for tools. Gatepass gives their values to tools and never returns them. */
export interface AdminSecrets {
  list(): List<Wire.Secret>
  /** By its key or id. */
  get(key: string, options?: RequestOptions): Promise<Wire.Secret>
  set(
    key: string,
    value: string,
    options?: RequestOptions & { readonly description?: string },
  ): Promise<Wire.Secret>
  /** By its key or id. */
  delete(key: string, options?: RequestOptions): Promise<void>
}

export function createSecrets({ call }: Transport): AdminSecrets {
  return {
    list: () => createList((query, options) => call('listSecrets', { query, options })),
    get: (key, options) => call('getSecret', { params: { key }, options }),
    set: (key, value, { description, ...options } = {}) =>
      call('setSecret', { params: { key }, body: { value, description }, options }),
    async delete(key, options) {
      await call('deleteSecret', { params: { key }, options })
    },
  }
}
