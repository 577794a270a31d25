import { expect } from 'vitest'
import { type Gatepass, startGatepass, testClock } from '../../gatepass.ts'
import { startWorld, type World } from '../../http/world.ts'
import { freshDatabase } from '../../postgres.ts'

/** Two nodes on one database, where calls of Demo.Echo whose text begins with "ask" need the approval of a group. */
export interface TwoNodes extends AsyncDisposable {
  readonly world: World
  readonly other: Gatepass
  readonly clock: ReturnType<typeof testClock>
  /** Of PostgreSQL. */
  readonly databaseUrl: string | undefined
  /** Decides about the call for which the answer waits. */
  decide(waiting: { requires_authorization: { id: string } }, decision?: 'approve' | 'deny'): Promise<void>
  /** The texts of the calls that the worker got. */
  ran(): unknown[]
  /** Adds the policy of the effect `approve`. */
  ask(): Promise<unknown>
  /** Removes all policies, forgets what was run, and lets the worker answer again. */
  clear(): Promise<void>
}

export const DATABASES = ['SQLite', 'PostgreSQL'] as const

export async function startTwoNodes(kind: (typeof DATABASES)[number]): Promise<TwoNodes> {
  const stack = new AsyncDisposableStack()
  const clock = testClock(1_800_000_000)
  const databaseUrl = kind === 'PostgreSQL' ? stack.use(await freshDatabase()).url : undefined
  const where = databaseUrl === undefined ? {} : { environment: { GATEPASS_DATABASE_URL: databaseUrl } }
  const world = stack.use(await startWorld({ gatepass: { now: clock, ...where } }))
  const { databasePath } = world.gatepass
  const other = stack.use(await startGatepass({ now: clock, databasePath, ...where }))
  const key = await world.gatepass.makeKey('approver')
  const { call } = world
  return {
    world,
    other,
    clock,
    databaseUrl,
    async decide({ requires_authorization: { id } }, decision = 'approve') {
      const { digest } = (await call('GET', `/v1/approvals/${id}`, undefined, { key })).body
      const sent = { decision, digest, approver: 'bob' }
      expect(await call('POST', `/v1/approvals/${id}/decision`, sent, { key })).toMatchObject({ status: 200 })
    },
    ran: () => world.worker.invocations.map(({ call }) => call.inputs?.text),
    ask: () =>
      call('POST', '/v1/admin/policies', {
        id: 'ask',
        effect: 'approve',
        match: { tools: ['Demo.Echo'], arguments: [{ at: '/text', matches: 'ask.*' }] },
        approve: { by: { group: 'security' } },
      }),
    async clear() {
      const { body } = await call('GET', '/v1/admin/policies?limit=100')
      for (const { id } of body.items) await call('DELETE', `/v1/admin/policies/${id}`)
      world.worker.invocations.length = 0
      world.worker.behaviour.onInvoke = undefined
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
