import type * as Wire from '../../generated/wire.ts'
import type { Answer, Body } from '../operation.ts'
import { createList, type List } from '../pages.ts'
import type { RequestOptions, Transport } from '../transport.ts'

/** API keys of the project. */
export interface AdminKeys {
  list(): List<Wire.ApiKey>
  get(id: string, options?: RequestOptions): Promise<Wire.ApiKey>
  /** Makes a key; `key` of the answer is shown this once. Not repeated after a lost answer. */
  create(key: Body<'createApiKey'>, options?: RequestOptions): Promise<Wire.IssuedApiKey>
  /** Makes its successor. Both are good for `grace` seconds, a day by default. Not repeated after a lost answer. */
  rotate(id: string, options?: RequestOptions & Body<'rotateApiKey'>): Promise<Answer<'rotateApiKey'>>
  /** Works for the client's own key too. */
  revoke(id: string, options?: RequestOptions): Promise<void>
}

export function createKeys({ call }: Transport): AdminKeys {
  return {
    list: () => createList((query, options) => call('listApiKeys', { query, options })),
    get: (id, options) => call('getApiKey', { params: { id }, options }),
    create: (body, options) => call('createApiKey', { body, options }),
    rotate: (id, { grace, prefix, ...options } = {}) =>
      call('rotateApiKey', { params: { id }, body: { grace, prefix }, options }),
    async revoke(id, options) {
      await call('revokeApiKey', { params: { id }, options })
    },
  }
}
