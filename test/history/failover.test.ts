import { test } from 'vitest'
import { runSql } from '../postgres-cluster.ts'
import { until } from '../until.ts'
import { recordFailover } from './faults.ts'
import type { Operation } from './history.ts'
import { approve, type Load, tokenOf } from './operations.ts'
import { type Replicated, startReplicated } from './replicated.ts'
import { runHistory } from './run.ts'
import type { Answer, World } from './world.ts'

// A standby takes over while clients of three nodes connect, fetch tokens whose refresh tokens rotate, run tools, delete
// connections, deny users, and make and revoke API keys. docs/operate/scaling.md says what may be lost then.

/**
 * A request waits for the database for two seconds (`RETRY_MS`). So these, one after another, end within the ten seconds
 * that docs/operate/scaling.md promises; and a slow machine needs no more of them than a fast one.
 */
const MOST_TRIES = 3

test('nothing that was acknowledged is lost when a synchronous standby takes over, with and without a commit that waits for it', async ({
  expect,
}) => {
  await using server = await startReplicated()
  const tries: number[] = []
  const { violations, counts, history } = await runHistory({
    kind: 'PostgreSQL',
    seed: 5,
    databaseUrl: server.url,
    async faults(world, load) {
      for (const stalled of [undefined, () => untilACommitWaits(server)]) {
        await untilAnswered(world, load)
        await recordFailover(world, server, 'synchronous', { what: 'under load', stalled })
        tries.push(...(await triesUntilServed(world)))
      }
      await untilAnswered(world, load, ['token'])
    },
  })
  expect(violations).toEqual([])
  expect(counts.failovers).toBe(2)
  expect(Math.max(...tries)).toBeLessThanOrEqual(MOST_TRIES)
  expect(history.end.losses).toEqual([0, 0, 0])
})

test('when an asynchronous standby takes over, exactly what it had not received is lost, and each node notices it', async ({
  expect,
}) => {
  await using server = await startReplicated()
  const { violations, counts, history } = await runHistory({
    kind: 'PostgreSQL',
    seed: 6,
    databaseUrl: server.url,
    async faults(world, load) {
      const does = actions(world, load)
      const [endedBefore, endedMeanwhile] = [await does.makeKey(), await does.makeKey()]
      const [denied, deleted, rotated] = [
        await does.connect('fay'),
        await does.connect('gil'),
        await does.connect('ida'),
      ]
      await does.revokeKey(endedBefore.id)
      await untilAnswered(world, load)

      let made = { id: '', key: '' }
      let connected = ''
      let usedToken = ''
      await recordFailover(world, server, 'asynchronous', {
        what: 'under load',
        async stalled() {
          made = await does.makeKey()
          connected = await does.connect('jon')
          await does.revokeKey(endedMeanwhile.id)
          await does.deny('fay')
          await does.delete('gil', deleted)
          usedToken = await does.refresh('ida', rotated)
          await untilAnswered(world, load)
        },
      })
      expect(Math.max(...(await triesUntilServed(world)))).toBeLessThanOrEqual(MOST_TRIES)

      // it is noticed
      const entries = async () =>
        (await world.ask(0, 'GET', '/v1/admin/audit?action=installation.commits_lost'))?.body.items ?? []
      await until(async () => (await entries()).length === world.slots.length)
      for (const { subject } of await entries()) expect(subject).toMatch(/^the last \d+ seconds$/)
      for (const { node } of world.slots) expect(node.log()).toContain('the database has lost commits')

      // what it had received is there; what came later is as it was before
      const listed = async (key: string) => (await world.ask(1, 'GET', '/v1/connections', { key }))?.status
      expect(await listed(endedBefore.key)).toBe(401)
      expect(await listed(endedMeanwhile.key)).toBe(200)
      expect(await listed(made.key)).toBe(401)
      expect((await does.token('fay', denied))?.status).toBe(200)
      expect((await does.token('jon', connected))?.status).toBe(404)
      const [{ id }] = (await world.ask(1, 'GET', '/v1/connections?user_id=gil'))?.body.items ?? [{}]
      expect(id).toBe(deleted)

      // the refresh token that was used is tried once; then the user gets a link, approves, and has a token
      await until(async () => (await does.token('ida', rotated))?.body.name === 'authorization_required')
      expect(world.as.refreshReuses.filter((token) => token === usedToken)).toHaveLength(1)
      expect((await does.token('ida', await does.connect('ida')))?.status).toBe(200)
      await untilAnswered(world, load, ['token'])
    },
  })
  expect(violations).toEqual([])
  expect(counts['failovers with losses']).toBe(1)
  expect(history.end.losses).toEqual([1, 1, 1])
})

/** What a user, a caller and an administrator do beside the load. Each throws when it is not acknowledged. */
function actions({ ask, as }: World, { record }: Load) {
  const of = (operation: Operation, user = '') => ({ operation, user, client: -1, node: 0 })
  const acknowledged = (answer: Answer | undefined): Answer => {
    if (answer === undefined || answer.status >= 300)
      throw new Error(`not acknowledged: ${answer?.status} ${JSON.stringify(answer?.body)}`)
    return answer
  }
  const token = (user: string, connection: string) =>
    record(
      { ...of('token', user), connection },
      () => ask(0, 'POST', `/v1/connections/${connection}/token`),
      tokenOf,
    )
  return {
    token,
    async makeKey(): Promise<{ id: string; key: string }> {
      const { body } = acknowledged(await ask(0, 'POST', '/v1/admin/keys', { body: { role: 'caller' } }))
      return { id: body.id, key: body.key }
    },
    async revokeKey(id: string) {
      acknowledged(
        await record({ ...of('revoke key'), apiKey: id }, () => ask(0, 'DELETE', `/v1/admin/keys/${id}`)),
      )
    },
    async deny(user: string) {
      const body = { id: `deny-${user}`, effect: 'deny', match: { users: [user] } }
      acknowledged(
        await record({ ...of('deny', user), policy: body.id }, () =>
          ask(0, 'POST', '/v1/admin/policies', { body }),
        ),
      )
    },
    async delete(user: string, connection: string) {
      acknowledged(
        await record({ ...of('delete', user), connection }, () =>
          ask(0, 'DELETE', `/v1/connections/${connection}`),
        ),
      )
    },
    async connect(user: string): Promise<string> {
      const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: user }
      const connect = async () => {
        const { body } = acknowledged(await ask(0, 'POST', '/v1/auth/authorize', { body: need }))
        await approve(body.url)
        const status = () => ask(0, 'GET', `/v1/auth/status?id=${body.id}`)
        await until(async () => (await status())?.body.status === 'completed')
        return ask(0, 'GET', `/v1/connections?user_id=${user}`)
      }
      const idOf = ({ body }: Answer): string => body.items[0].id
      return idOf(
        acknowledged(await record(of('connect', user), connect, (answer) => ({ connection: idOf(answer) }))),
      )
    },
    /** Fetches the token until it is a refreshed one; returns the refresh token that was used for it. */
    async refresh(user: string, connection: string): Promise<string> {
      const known = new Set(as.refreshed.map(({ accessToken }) => accessToken))
      for (;;) {
        const { access_token: fetched } = acknowledged(await token(user, connection)).body
        const refreshed = as.refreshed.find(({ accessToken }) => accessToken === fetched)
        if (refreshed !== undefined && !known.has(fetched)) return refreshed.used
      }
    },
  }
}

const OPERATIONS: readonly Operation[] = [
  'token',
  'connect',
  'execute',
  'delete',
  'deny',
  'make key',
  'revoke key',
]

/** Waits until each of these has begun and was acknowledged since now, and each node has answered a token. */
async function untilAnswered(world: World, { requests }: Load, operations = OPERATIONS): Promise<void> {
  const from = world.now()
  await until(() => {
    const since = requests.filter(({ begun, status = 500 }) => begun >= from && status < 300)
    return (
      operations.every((kind) => since.some(({ operation }) => operation === kind)) &&
      world.slots.every((_, slot) => since.some(({ node, token }) => node === slot && token !== undefined))
    )
  })
}

/** Waits until a commit is on the primary's disk and waits for the standby. */
async function untilACommitWaits({ primary }: Replicated): Promise<void> {
  const waits = "select from pg_stat_activity where wait_event = 'SyncRep'"
  await until(async () => (await runSql(primary.url, waits)).rowCount !== 0)
}

/** By node, how many requests one after another it takes until one that reads and one that writes are answered. */
function triesUntilServed(world: World): Promise<number[]> {
  return Promise.all(
    [...world.slots.keys()].map(async (slot) => {
      for (let tries = 1; ; tries++) {
        const read = await world.ask(slot, 'GET', '/v1/connections?limit=1')
        const written = await world.ask(slot, 'POST', '/v1/admin/keys', { body: { role: 'caller' } })
        if ((read?.status === 200 && written?.status === 201) || tries > MOST_TRIES) return tries
      }
    }),
  )
}
