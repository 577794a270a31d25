import type * as Wire from '../../generated/wire.ts'
import type { Body } from '../operation.ts'
import { createList, type List } from '../pages.ts'
import type { RequestOptions, Transport } from '../transport.ts'

/** Policies decide which tools and callers may use which tokens. */
export interface AdminPolicies {
  list(): List<Wire.Policy>
  get(id: string, options?: RequestOptions): Promise<Wire.Policy>
  create(policy: Body<'createPolicy'>, options?: RequestOptions): Promise<Wire.Policy>
  /** `match` is replaced as a whole; of `hook` only the members that are given are changed. */
  update(id: string, changes: Body<'updatePolicy'>, options?: RequestOptions): Promise<Wire.Policy>
  delete(id: string, options?: RequestOptions): Promise<void>
  /** What the policies decide about a use. Nothing is used, counted or called. */
  test(use: Body<'testPolicies'>, options?: RequestOptions): Promise<Wire.PolicyVerdict>
  /** Which of last week's uses of tokens the policies would have refused. Nothing is changed and no hook is called. */
  dryRun(order: Body<'dryRunPolicies'>, options?: RequestOptions): Promise<Wire.PolicyDryRun>
}

export function createPolicies({ call }: Transport): AdminPolicies {
  return {
    list: () => createList((query, options) => call('listPolicies', { query, options })),
    get: (id, options) => call('getPolicy', { params: { id }, options }),
    create: (body, options) => call('createPolicy', { body, options }),
    update: (id, body, options) => call('updatePolicy', { params: { id }, body, options }),
    async delete(id, options) {
      await call('deletePolicy', { params: { id }, options })
    },
    test: (body, options) => call('testPolicies', { body, options }),
    dryRun: (body, options) => call('dryRunPolicies', { body, options }),
  }
}
