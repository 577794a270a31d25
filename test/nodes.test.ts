import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { AnyJson } from './any-json.ts'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from './fake-authorization-server.ts'
import { type DatabaseKind, type Installation, install, type Node } from './faults/installation.ts'
import { repetitions } from './faults/repetitions.ts'
import { click, oauth2For } from './flows/fixtures.ts'

// Three `gatepass serve` processes on one database, and a server that rotates refresh tokens and ends the whole grant
// when a used one comes again.

/** Of the access tokens that the first consent brings: it has run out as soon as the test goes on. */
const SHORT_SECONDS = 1
const FETCHES_OF_A_NODE = 100
/** Longer than the lease of a dead process holds. */
const LAPSED_MS = 26_000

/** Where a node dies: what the server has seen of the refresh, and what the node has. */
const MOMENTS = ['before the server has seen it', 'before the answer', 'with the answer', 'after'] as const
type Moment = (typeof MOMENTS)[number]
const mayBeLost = (moment: Moment) => moment === 'before the answer' || moment === 'with the answer'

interface Answer {
  readonly status: number
  readonly body: AnyJson
}

async function startNodes(installation: Installation) {
  const start = () => installation.start({ nodeArgs: [] })
  const nodes = [await start(), ...(await Promise.all([start(), start()]))]
  const starting: (Promise<void> | undefined)[] = []
  return {
    async get(i: number): Promise<Node> {
      await starting[i]
      return nodes[i] as Node // there are three, always
    },
    /** Kills it; another takes its place meanwhile. */
    async kill(i: number): Promise<void> {
      await nodes[i]?.kill()
      starting[i] = start().then((node) => {
        nodes[i] = node
      })
    },
    [Symbol.asyncDispose]: async () => void (await Promise.allSettled(starting)),
  }
}

/** `undefined`: the node has died meanwhile. */
async function fetchToken(node: Node, id: string): Promise<Answer | undefined> {
  return node.call('POST', `/v1/connections/${id}/token`).catch(() => undefined)
}

async function connect(node: Node, user: string): Promise<string> {
  const need = { user_id: user, auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } } }
  await click((await node.call('POST', '/v1/auth/authorize', need)).body.url)
  const { body } = await node.call('GET', `/v1/connections?user_id=${user}`)
  return body.items[0].id
}

/** Kills the node in the middle of a refresh, and answers what it could still say itself. */
async function killDuring(
  moment: Moment,
  {
    as,
    kill,
    fetching,
  }: { as: FakeAuthorizationServer; kill(): Promise<void>; fetching: () => Promise<Answer | undefined> },
): Promise<Answer | undefined> {
  if (moment === 'after') {
    const answer = await fetching()
    await kill()
    return answer
  }
  const reached = Promise.withResolvers<void>()
  const never = new Promise<void>(() => {})
  let isFirst = true
  as.behaviour.onRefresh = (at) => {
    if (!isFirst || at !== (moment === 'before the server has seen it' ? 'arrived' : 'carried out'))
      return undefined
    isFirst = false
    reached.resolve()
    return moment === 'with the answer' ? undefined : never
  }
  const answer = fetching()
  await reached.promise
  as.behaviour.onRefresh = undefined
  await kill()
  return answer
}

async function threeNodes(kind: DatabaseKind, kills: number): Promise<void> {
  const as = await startFakeAuthorizationServer({
    refresh: 'rotate-strict',
    accessTokenLifetime: SHORT_SECONDS,
  })
  try {
    await using installation = await install(kind)
    await using nodes = await startNodes(installation)
    const first = await nodes.get(0)
    const added = await first.call('POST', '/v1/admin/auth_providers', { id: 'demo', oauth2: oauth2For(as) })
    expect(added.status).toBe(201)
    const storm = await connect(first, 'storm')
    const ids: string[] = []
    for (let i = 0; i < kills; i++) ids.push(await connect(first, `user-${i}`))
    await sleep((SHORT_SECONDS + 1) * 1000)
    Object.assign(as.behaviour, { accessTokenLifetime: 3600, refreshDelayMs: 50 })

    // 300 at once
    const all = await Promise.all([0, 1, 2].map((i) => nodes.get(i)))
    const answers = await Promise.all(
      Array.from({ length: 3 * FETCHES_OF_A_NODE }, (_, i) => fetchToken(all[i % 3] as Node, storm)),
    )
    expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([200]))
    expect(new Set(answers.map((answer) => answer?.body.access_token)).size).toBe(1)
    expect(as.isLive(answers[0]?.body.access_token)).toBe(true)
    expect(as.tokenRequests('refresh_token')).toHaveLength(1)
    expect(as.familyRevoked).toBe(false)

    // again and again, with one node killed
    as.behaviour.refreshDelayMs = 0
    const meanwhile: { readonly moment: Moment; readonly answer: Promise<Answer | undefined> }[] = []
    const rounds = []
    for (const [i, id] of ids.entries()) {
      const moment = MOMENTS[i % MOMENTS.length] as Moment
      const victim = await nodes.get(i % 3)
      const said = await killDuring(moment, {
        as,
        kill: () => nodes.kill(i % 3),
        async fetching() {
          const own = fetchToken(victim, id)
          for (const other of [1, 2])
            meanwhile.push({
              moment,
              answer: nodes.get((i + other) % 3).then((node) => fetchToken(node, id)),
            })
          return own
        },
      })
      rounds.push({ id, moment, said })
    }
    const lapsed = lapse(installation)
    for (const { moment, answer } of meanwhile) {
      // a node that waited for the lease to lapse learns then that the answer was lost
      const status = (await answer)?.status ?? 503
      expect(mayBeLost(moment) ? [200, 403, 503] : [200, 503], moment).toContain(status)
    }
    await lapsed
    const ends = await Promise.all(
      rounds.map(async (round) => ({ ...round, end: await untilSettled(nodes, round.id) })),
    )
    for (const { id, moment, said, end } of ends) {
      const { body } = await (await nodes.get(0)).call('GET', `/v1/connections/${id}`)
      if (end.status === 200) {
        expect(as.isLive(end.body.access_token), moment).toBe(true)
        expect(body, moment).toMatchObject({ status: 'active' })
        if (said?.status === 200) expect(end.body.access_token).toBe(said.body.access_token)
      } else {
        expect(end, moment).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
        expect(body, moment).toMatchObject({
          status: 'needs_authorization',
          status_reason: 'refresh_outcome_lost',
        })
        expect(said?.status, moment).not.toBe(200)
      }
      if (!mayBeLost(moment)) expect(end.status, moment).toBe(200)
      if (moment === 'before the answer') expect(end.status, moment).toBe(403)
    }
    // no used refresh token was sent but those whose answers were lost, and each of them once
    expect(as.refreshReuses).toHaveLength(ends.filter(({ end }) => end.status === 403).length)
    expect(new Set(as.refreshReuses).size).toBe(as.refreshReuses.length)
  } finally {
    await as.close()
  }
}

/** Leases lapse in real time on SQLite, where the test waits meanwhile; on PostgreSQL they are ended in the database. */
async function lapse(installation: Installation): Promise<void> {
  await (installation.kind === 'SQLite' ? sleep(LAPSED_MS) : installation.lapseLost())
}

/** All nodes ask at once, until the lease of the dead one has lapsed; then they must say the same. */
async function untilSettled(nodes: Awaited<ReturnType<typeof startNodes>>, id: string): Promise<Answer> {
  for (let tries = 0; tries < 240; tries++) {
    const answers = await Promise.all([0, 1, 2].map(async (i) => fetchToken(await nodes.get(i), id)))
    const settled = answers.filter((answer) => answer !== undefined && answer.status !== 503) as Answer[]
    if (settled.length === 3) {
      expect(new Set(settled.map(({ status, body }) => `${status} ${body.access_token}`)).size).toBe(1)
      return settled[0] as Answer // there are three
    }
    await sleep(250)
  }
  throw new Error(`the connection ${id} was not settled`)
}

describe.concurrent('R2, R4: three processes on one database', () => {
  test(
    'on PostgreSQL: one refresh for 300 fetches; of those that die in a refresh only lost answers are lost',
    () => threeNodes('PostgreSQL', repetitions({ few: MOMENTS.length, many: 20 })),
    1_200_000,
  )

  test(
    'on one SQLite file: likewise',
    () => threeNodes('SQLite', repetitions({ few: MOMENTS.length, many: 12 })),
    1_200_000,
  )
})
