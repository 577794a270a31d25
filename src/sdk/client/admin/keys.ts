import type * as Wire from '../../wire.ts'
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

const PATH = '/v1/admin/keys'
const ONE = '/v1/admin/keys/{id}'

export function createKeys({ call }: Transport): AdminKeys {
  return {
    list: () =>
      createList((query, options) => call<'listApiKeys'>({ method: 'GET', path: PATH, query, options })),
    get: (id, options) => call<'getApiKey'>({ method: 'GET', path: ONE, params: { id }, options }),
    create: (body, options) =>
      call<'createApiKey'>({ method: 'POST', path: PATH, body, repetition: 'unsafe', options }),
    rotate(id, { grace, prefix, ...options } = {}) {
      const request = { path: '/v1/admin/keys/{id}/rotate', params: { id }, body: { grace, prefix } } as const
      return call<'rotateApiKey'>({ method: 'POST', ...request, repetition: 'unsafe', options })
    },
    async revoke(id, options) {
      await call<'revokeApiKey'>({ method: 'DELETE', path: ONE, params: { id }, options })
    },
  }
}
