import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { NotStarted } from '../served.ts'
import { until } from '../until.ts'
import {
  addProvider,
  approve,
  authorize,
  begin,
  codesSentTwice,
  connect,
  connectionOf,
  fetchToken,
  importTool,
  statusOf,
} from './clients.ts'
import { type Answer, type DatabaseKind, type Installation, install, report } from './installation.ts'
import type { KillPoint } from './kill-at.ts'

// P4, P7, R4, R11, R12: `gatepass serve` is killed with SIGKILL at named points, and started again.

const ENDLESS_MS = 600_000
const SHORT_SECONDS = 1

const CLAIM = 'update "authorizations"[^]*exchanging'
const NEW_CONNECTION = 'insert into "connections"'
const INTENT = 'update "connections" set "lease_owner"'
const REFRESHED = 'update "connections" set [^]*"access" ='
const DELETED = 'delete from "connections"'
const IMPORTED = 'insert into "tools"'
const RELEASED = 'insert into audit_blocks[^]*token\\.released'
const MIGRATED = 'insert into schema_migrations'

const CALLERS = 24
const CONSENTS = 8
/** Users whose tokens expire after a second: one for each refresh during which the process is killed. */
const SHORT_LIVED = ['intent', 'arrived', 'carried out', 'uncommitted', 'grace', 'committed'] as const
type ShortLived = (typeof SHORT_LIVED)[number]

export function killPoints(kind: DatabaseKind): void {
  describe(`on ${kind}`, () => {
    let as: FakeAuthorizationServer
    let installation: Installation
    /** By user, the connections that the API has acknowledged or listed. */
    const acknowledged = new Map<string, string>()
    const shortLived = new Map<ShortLived, string>()
    const answers: Answer[] = []
    const counts = { kills: 0, lost: 0, refreshesLost: 0, refreshesRecovered: 0, half: 0 }

    beforeAll(async () => {
      as = await startFakeAuthorizationServer({ refresh: 'rotate-strict' })
      installation = await install(kind)
      await installation.start()
      await addProvider(installation, as)
      as.behaviour.accessTokenLifetime = SHORT_SECONDS
      for (const user of SHORT_LIVED) shortLived.set(user, await connectAcknowledged(user))
      as.behaviour.accessTokenLifetime = 3600
    })

    afterAll(async () => {
      if (installation === undefined) return
      const { faults, entries, released, fingerprint } = await installation.trail()
      const given = answers.filter(({ status }) => status === 200)
      const unrecorded = given.filter(
        ({ requestId, body }) => !released.get(requestId)?.includes(fingerprint(body.access_token)),
      )
      report(`kill -9 at named points, ${kind}`, {
        kills: counts.kills,
        'acknowledged connections': acknowledged.size,
        'of them lost': counts.lost,
        'codes sent twice': codesSentTwice(as),
        'refreshes whose answer was lost, and said so': counts.refreshesLost,
        'refreshes recovered': counts.refreshesRecovered,
        'tokens answered': given.length,
        'of them without an audit record': unrecorded.length,
        'audit entries': entries,
        'broken links': faults.length,
      })
      await installation[Symbol.asyncDispose]()
      await as.close()
      expect(faults).toEqual([])
      expect(unrecorded).toEqual([])
    })

    async function connectAcknowledged(user: string): Promise<string> {
      const id = await connect(installation, user)
      acknowledged.set(user, id)
      return id
    }

    /** Calls `run` while the process kills itself at the point; returns what `run` returned or threw. */
    async function killAt<T>(point: KillPoint, run: () => Promise<T>): Promise<T | Error> {
      const [node] = installation.nodes
      const armed = await node?.armed(point)
      const running = run().catch((error: Error) => error)
      await armed?.killed
      return restarted(await running)
    }

    /** Calls `run` and kills the process when `isReached` resolves; returns what `run` returned or threw. */
    async function killWhen<T>(isReached: Promise<unknown>, run: () => Promise<T>): Promise<T | Error> {
      const running = run().catch((error: Error) => error)
      await isReached
      await installation.nodes[0]?.kill()
      return restarted(await running)
    }

    /** Starts the process again, and checks that no acknowledged connection is lost; returns `outcome`. */
    async function restarted<T>(outcome: T): Promise<T> {
      counts.kills++
      await until(() => installation.nodes.length === 0)
      await installation.start()
      const { body } = await installation.call('GET', '/v1/connections?limit=100')
      const there = new Set(body.items.map(({ id }: { id: string }) => id))
      const lost = [...acknowledged].filter(([, id]) => !there.has(id))
      counts.lost += lost.length
      expect(lost).toEqual([])
      return outcome
    }

    async function token(id: string): Promise<Answer> {
      const answer = await fetchToken(installation, id)
      answers.push(answer)
      return answer
    }

    async function expectUsable(user: string): Promise<void> {
      const { status, body } = await token(await connectionOf(installation, user))
      expect(status, JSON.stringify(body)).toBe(200)
      expect(as.isLive(body.access_token)).toBe(true)
    }

    async function expectFinishable(
      flow: Awaited<ReturnType<typeof begin>>,
      callback: string,
      sent: number,
    ): Promise<void> {
      const requests = () => as.tokenRequests('authorization_code').length
      expect(await statusOf(installation, flow.id)).toBe('pending')
      await flow.browser.follow(callback)
      await installation.lapse()
      expect(await statusOf(installation, flow.id)).toBe('pending')
      await flow.browser.follow(callback)
      expect(requests()).toBe(sent)
      expect(codesSentTwice(as)).toBe(0)
      expect(await connectionOf(installation, flow.user)).toBeUndefined()
      await flow.browser.submitForm(await flow.browser.get(flow.url))
      expect(await statusOf(installation, flow.id)).toBe('completed')
      acknowledged.set(flow.user, await connectionOf(installation, flow.user))
      await expectUsable(flow.user)
    }

    const idOf = (user: ShortLived) => shortLived.get(user) ?? ''
    const refreshes = () => as.tokenRequests('refresh_token').length

    async function expectRecovered(user: ShortLived, more: number): Promise<void> {
      const before = refreshes()
      await installation.lapse()
      await expectUsable(user)
      await expectUsable(user)
      expect(refreshes() - before).toBe(more)
      counts.refreshesRecovered++
    }

    async function expectLost(user: ShortLived): Promise<void> {
      await installation.lapse()
      for (let i = 0; i < 2; i++)
        expect(await token(idOf(user))).toMatchObject({
          status: 403,
          body: { name: 'authorization_required' },
        })
      const { body } = await installation.call('GET', `/v1/connections/${idOf(user)}`)
      expect(body).toMatchObject({
        status: 'needs_authorization',
        status_reason: 'refresh_outcome_lost',
      })
      counts.refreshesLost++
    }

    describe('a consent', () => {
      test.each([
        ['claimed, the code not yet sent', { when: 'after', statement: CLAIM }, 0],
        ['redeemed, not yet committed', { when: 'before', statement: NEW_CONNECTION }, 1],
      ] as const)(
        '%s: the authorization is pending again, its code is not sent again, and a new click completes it',
        async (user, point, sent) => {
          const before = as.tokenRequests('authorization_code').length
          const flow = await begin(installation, user)
          const callback = await approve(flow)
          const outcome = await killAt(point, () => flow.browser.get(callback))
          expect(outcome).toBeInstanceOf(Error)
          await expectFinishable(flow, callback, before + sent)
        },
      )

      test('committed, the browser not yet answered: the authorization is completed', async () => {
        const flow = await begin(installation, 'committed consent')
        const callback = await approve(flow)
        const sent = as.tokenRequests('authorization_code').length + 1
        const outcome = await killAt({ when: 'after', statement: NEW_CONNECTION }, () =>
          flow.browser.get(callback),
        )
        expect(outcome).toBeInstanceOf(Error)
        expect(await statusOf(installation, flow.id)).toBe('completed')
        acknowledged.set(flow.user, await connectionOf(installation, flow.user))
        expect((await flow.browser.follow(callback)).status).toBe(200)
        expect(as.tokenRequests('authorization_code')).toHaveLength(sent)
        await expectUsable(flow.user)
      })
    })

    describe('a refresh', () => {
      test('whose refresh token was not sent yet is repeated', async () => {
        const before = refreshes()
        await killAt({ when: 'after', statement: INTENT }, () => token(idOf('intent')))
        expect(refreshes()).toBe(before)
        await expectRecovered('intent', 1)
      })

      test('that was answered and not yet committed: lost at a provider without a grace period', async () => {
        await killAt({ when: 'before', statement: REFRESHED }, () => token(idOf('uncommitted')))
        await expectLost('uncommitted')
      })

      test('that was answered and not yet committed: recovered at a provider with a grace period', async () => {
        as.behaviour.refresh = 'rotate-grace'
        await killAt({ when: 'before', statement: REFRESHED }, () => token(idOf('grace')))
        await expectRecovered('grace', 1)
        as.behaviour.refresh = 'rotate-strict'
      })

      test('that was committed: its token is stored, and no other refresh is needed', async () => {
        await killAt({ when: 'after', statement: REFRESHED }, () => token(idOf('committed')))
        await expectRecovered('committed', 0)
      })
    })

    test('a code and two refresh tokens at a provider without a grace period, not yet answered: a new click completes the authorization, the refresh that has only arrived is recovered, and the one that was carried out is lost', async () => {
      const before = as.tokenRequests('authorization_code').length
      const flow = await begin(installation, 'held')
      const callback = await approve(flow)
      as.behaviour.exchangeDelayMs = ENDLESS_MS
      const moments: string[] = []
      as.behaviour.onRefresh = (moment) => {
        moments.push(moment)
        return moments.length === 2 ? undefined : new Promise(() => {})
      }
      const failed = (asked: Promise<unknown>) => asked.catch((error: Error) => error)
      const asked = [failed(flow.browser.get(callback)), failed(token(idOf('arrived')))]
      await until(() => moments.length === 1)
      asked.push(failed(token(idOf('carried out'))))
      const areHeld = until(
        () => moments.length === 3 && as.tokenRequests('authorization_code').length > before,
      )
      const outcomes = await killWhen(areHeld, () => Promise.all(asked))
      expect(outcomes).toEqual([expect.any(Error), expect.any(Error), expect.any(Error)])
      expect(moments).toEqual(['arrived', 'arrived', 'carried out'])
      as.behaviour.exchangeDelayMs = 0
      as.behaviour.onRefresh = undefined
      await expectFinishable(flow, callback, before + 1)
      await expectRecovered('arrived', 1)
      await expectLost('carried out')
    })

    describe('a deletion', () => {
      test('not yet committed: the connection is still there and works', async () => {
        const id = await connectAcknowledged('kept')
        await killAt({ when: 'before', statement: DELETED }, () =>
          installation.call('DELETE', `/v1/connections/${id}`),
        )
        await expectUsable('kept')
      })

      test('committed: the connection is gone, and no token is released', async () => {
        const id = await connect(installation, 'gone')
        await killAt({ when: 'after', statement: DELETED }, () =>
          installation.call('DELETE', `/v1/connections/${id}`),
        )
        expect(await installation.call('GET', `/v1/connections/${id}`)).toMatchObject({ status: 404 })
        expect((await token(id)).status).toBe(404)
        expect((await authorize(installation, 'gone')).body.status).toBe('pending')
      })
    })

    describe('an import', () => {
      const tools = async () => (await installation.call('GET', '/v1/tools')).body.items.length
      const providers = async () =>
        (await installation.call('GET', '/v1/admin/auth_providers')).body.items.length

      test('not yet committed: stores nothing; committed: stores everything, and the same import again changes nothing', async () => {
        const before = { tools: await tools(), providers: await providers() }
        expect(
          await killAt({ when: 'before', statement: IMPORTED }, () => importTool(installation, other())),
        ).toBeInstanceOf(Error)
        expect({ tools: await tools(), providers: await providers() }).toEqual(before)
        expect(
          await killAt({ when: 'after', statement: IMPORTED }, () => importTool(installation, other())),
        ).toBeInstanceOf(Error)
        const after = { tools: before.tools + 1, providers: before.providers + 1 }
        expect({ tools: await tools(), providers: await providers() }).toEqual(after)
        const { status, body } = await importTool(installation, other())
        expect(status, JSON.stringify(body)).toBe(200)
        expect(body.items[0]).toMatchObject({ result: 'unchanged' })
        expect({ tools: await tools(), providers: await providers() }).toEqual(after)
      })

      /** The same server as another provider. */
      const other = () => ({ ...as, clientId: 'other-client', clientSecret: 'other-secret' })
    })

    describe('releases that share a commit', () => {
      test.each(['before', 'after'] as const)(
        'killed %s that commit: every answered release has an audit entry',
        async (when) => {
          const id = await connectAcknowledged(`released ${when}`)
          const outcome = await killAt({ when, statement: RELEASED, skip: 5 }, async () => {
            const callers = Array.from({ length: CALLERS }, async () => {
              const own: Answer[] = []
              for (;;) {
                const answer = await fetchToken(installation, id).catch(() => undefined)
                if (answer === undefined) return own
                own.push(answer)
              }
            })
            return (await Promise.all(callers)).flat()
          })
          if (outcome instanceof Error) throw outcome
          expect(outcome.length).toBeGreaterThan(0)
          answers.push(...outcome)
          await expectUsable(`released ${when}`)
        },
      )
    })

    describe('consents that end together', () => {
      test.each(['before', 'after'] as const)(
        'killed %s a commit: each has its connection, its audit entry and its status, or none of them',
        async (when) => {
          const users = Array.from({ length: CONSENTS }, (_, i) => `together ${when} ${i}`)
          const flows = await Promise.all(users.map((user) => begin(installation, user)))
          const callbacks = await Promise.all(flows.map(approve))

          const outcome = await killAt({ when, statement: NEW_CONNECTION, skip: CONSENTS / 2 }, () =>
            Promise.all(
              flows.map(({ browser }, i) => browser.get(callbacks[i] ?? '').catch(() => undefined)),
            ),
          )

          if (outcome instanceof Error) throw outcome
          const trail = JSON.stringify(await installation.sql('select text from audit_blocks'))
          const ends = await Promise.all(
            flows.map(async ({ id, user }) => ({
              status: (await statusOf(installation, id)) === 'completed',
              connection: (await connectionOf(installation, user)) !== undefined,
              record: trail.split('\\n').some((line) => line.includes(id) && line.includes('.completed')),
            })),
          )
          const [whole, none] = [true, false].map((is) => ({ status: is, connection: is, record: is }))
          for (const [i, end] of ends.entries()) expect(end).toEqual(end.status || outcome[i] ? whole : none)
        },
      )
    })

    test.each(['before', 'after'] as const)(
      'the first start, killed %s the migrations are committed: the next start runs the missing ones',
      async (when) => {
        await using fresh = await install(kind)
        const point: KillPoint = { when, statement: MIGRATED }
        const died = fresh.start({ environment: { TEST_KILL_AT: JSON.stringify(point) } })
        await expect(died).rejects.toMatchObject({ signal: 'SIGKILL' })
        await expect(died).rejects.toBeInstanceOf(NotStarted)
        counts.kills++
        await fresh.start()
        await addProvider(fresh, as)
        await connect(fresh, 'ada')
        expect((await fresh.trail()).faults).toEqual([])
      },
    )
  })
}
