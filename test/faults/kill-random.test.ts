import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { until } from '../until.ts'
import { addProvider, begin, codesSentTwice, fetchToken, statusOf } from './clients.ts'
import { type Answer, DATABASES, type Installation, install, report } from './installation.ts'
import { repetitions } from './repetitions.ts'

// P4, P7, R4, R12: servers under load that are killed with SIGKILL at any moment, over and over.

/** FAULTS_ROUNDS=200 for a long run. */
const ROUNDS = Number(process.env.FAULTS_ROUNDS ?? repetitions({ few: 2, many: 6 }))
/** As many refreshes as may be lost at once: more would count as an outage of the provider, which pauses refreshes. */
const CLIENTS = 5
const LIFE_SECONDS = 1
const EXCHANGE_SECONDS = 28
const REFRESH_MS = 60

interface Held {
  readonly user: string
  readonly id: string
  deletion?: 'asked' | 'answered'
}

/** What callers and users were answered, which must hold afterwards. */
interface Journal {
  readonly held: Held[]
  readonly flows: string[]
  readonly answers: Answer[]
  readonly byStatus: Map<number | 'no answer', number>
}

test.concurrent.each(DATABASES)(
  'on %s: acknowledged connections are kept, and every answered token has an audit entry',
  async (kind) => {
    const as = await startFakeAuthorizationServer({
      refresh: 'rotate-strict',
      accessTokenLifetime: LIFE_SECONDS,
      refreshDelayMs: REFRESH_MS,
      exchangeDelayMs: 30,
    })
    try {
      await using installation = await install(kind)
      // two nodes of which one is killed at a time, or one alone
      for (let i = 0; i < (kind === 'PostgreSQL' ? 2 : 1); i++) await installation.start()
      await addProvider(installation, as)
      const journal: Journal = { held: [], flows: [], answers: [], byStatus: new Map() }
      const load = startLoad(installation, journal)
      let latestDeadline = 0
      for (let round = 0; round < ROUNDS; round++) {
        // at a random number of answers, so that the speed of the machine does not matter
        const more = journal.answers.length + 20 + Math.random() * 150
        await until(() => journal.answers.length >= more)
        // tokens run out at whole seconds, so refreshes come in crowds: every second kill waits for one
        const isAimed = round % 2 === 1
        if (isAimed) await nextRefresh(as)
        await sleep(Math.random() * (isAimed ? REFRESH_MS : 1_000))
        const [victim] = installation.nodes
        await victim?.kill()
        await until(() => victim !== undefined && !installation.nodes.includes(victim))
        latestDeadline = Math.max(latestDeadline, await longestClaim(installation))
        // the only process is dead, so no living process holds a lease
        if (kind === 'SQLite') await installation.lapse()
        await installation.start()
      }
      await sleep(500)
      await load.stop()
      await installation.lapseLost()
      expect(latestDeadline).toBeLessThanOrEqual(EXCHANGE_SECONDS)
      await judge(installation, as, journal)
    } finally {
      await as.close()
    }
  },
)

function nextRefresh(as: FakeAuthorizationServer): Promise<void> {
  return new Promise((resolve) => {
    as.behaviour.onRefresh = () => {
      as.behaviour.onRefresh = undefined
      resolve()
      return undefined
    }
  })
}

/** Seconds until the last claim on a code ends. */
async function longestClaim(installation: Installation): Promise<number> {
  const [row] = await installation.sql(
    "select max(deadline) as deadline from authorizations where status = 'exchanging'",
  )
  return row?.deadline == null ? 0 : Number(row.deadline) - Math.floor(Date.now() / 1000)
}

function startLoad(installation: Installation, journal: Journal) {
  let isOver = false
  const counted = (status: number | 'no answer') =>
    journal.byStatus.set(status, (journal.byStatus.get(status) ?? 0) + 1)

  /** `undefined`: no answer arrived. */
  async function ask(asked: Promise<Answer>): Promise<Answer | undefined> {
    const answer = await asked.catch(() => undefined)
    counted(answer?.status ?? 'no answer')
    if (answer === undefined) await sleep(20)
    return answer
  }

  async function connect(user: string): Promise<Held | undefined> {
    const flow = await begin(installation, user).catch(() => undefined)
    if (flow === undefined) return void (await sleep(20))
    journal.flows.push(flow.id)
    await flow.browser
      .get(flow.url)
      .then(
        (page) => flow.browser.submitForm(page),
        () => undefined,
      )
      .catch(() => undefined)
    const status = await statusOf(installation, flow.id).catch(() => undefined)
    if (status !== 'completed') return undefined
    // its caller has read `completed`: the connection is acknowledged
    const { body } = await untilAnswered(() => installation.call('GET', `/v1/connections?user_id=${user}`))
    const held = { user, id: body.items[0]?.id }
    journal.held.push(held)
    return held
  }

  async function client(number: number): Promise<void> {
    for (let turn = 0; !isOver; turn++) {
      const held = await connect(`user-${number}-${turn}`)
      if (held === undefined) continue
      const fetches = 50 + Math.random() * 50 // on a usual machine, tokens are refreshed two or three times meanwhile
      for (let i = 0; !isOver && i < fetches; i++) {
        const answer = await ask(fetchToken(installation, held.id))
        if (answer !== undefined) journal.answers.push(answer)
        if (answer?.status === 403) break
        await sleep(answer?.status === 200 ? 20 : 60)
      }
      if (isOver || Math.random() < 0.6) continue
      const deleted = { ...held, deletion: 'asked' as const }
      journal.held.splice(journal.held.indexOf(held), 1, deleted)
      const answer = await ask(installation.call('DELETE', `/v1/connections/${held.id}`))
      if (answer?.status === 200)
        journal.held.splice(journal.held.indexOf(deleted), 1, { ...deleted, deletion: 'answered' })
    }
  }

  const clients = Array.from({ length: CLIENTS }, (_, i) => client(i))
  return {
    async stop() {
      isOver = true
      await Promise.all(clients)
    },
  }
}

async function untilAnswered(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask().catch(() => undefined)
    if (answer !== undefined && answer.status < 500) return answer
    await sleep(20)
  }
}

async function judge(
  installation: Installation,
  as: FakeAuthorizationServer,
  { held, flows, answers, byStatus }: Journal,
): Promise<void> {
  const lost: string[] = []
  const undeleted: string[] = []
  let outcomesLost = 0
  const ends = await Promise.all(held.map(({ id }) => untilAnswered(() => fetchToken(installation, id))))
  for (const [i, { id, user, deletion }] of held.entries()) {
    const answer = ends[i] as Answer // one of each
    if (deletion === 'answered' && answer.status !== 404) undeleted.push(user)
    if (deletion !== undefined || answer.status === 200) continue
    const { body } = await installation.call('GET', `/v1/connections/${id}`)
    if (answer.status === 403 && body.status_reason === 'refresh_outcome_lost') outcomesLost++
    else lost.push(`${user}: ${answer.status} ${JSON.stringify(body)}`)
  }
  const statuses = new Set(await Promise.all(flows.map((id) => statusOf(installation, id))))
  const { faults, entries, released, outcomesLost: recorded, fingerprint } = await installation.trail()
  const given = [...answers, ...ends].filter(({ status }) => status === 200)
  const unrecorded = given.filter(
    ({ requestId, body }) => !released.get(requestId)?.includes(fingerprint(body.access_token)),
  )
  const counts = [...byStatus]
    .map(([status, count]) => `${status}: ${count}`)
    .sort()
    .join('; ')
  report(`kill -9 at random, ${installation.kind}`, {
    kills: ROUNDS,
    'acknowledged connections': held.length,
    'of them lost': lost.length,
    refreshes: as.tokenRequests('refresh_token').length,
    'used refresh tokens sent once more, since their answer was lost with the process (R4)':
      as.refreshReuses.length,
    'connections that say so in the audit trail': recorded.size,
    'of those that are still there': outcomesLost,
    'codes redeemed': as.tokenRequests('authorization_code').length,
    'sent twice': codesSentTwice(as),
    'deletions answered': held.filter(({ deletion }) => deletion === 'answered').length,
    'of them undone': undeleted.length,
    'tokens answered': given.length,
    'of them without an audit record': unrecorded.length,
    'audit entries': entries,
    'broken links': faults.length,
    [`answers during the load (${counts})`]: [...byStatus.values()].reduce((sum, count) => sum + count, 0),
  })
  expect(lost).toEqual([])
  expect(undeleted).toEqual([])
  expect(unrecorded).toEqual([])
  expect(faults).toEqual([])
  expect(codesSentTwice(as)).toBe(0)
  // only the one retry of a refresh whose answer was lost may end a grant
  expect(new Set(as.refreshReuses).size).toBe(as.refreshReuses.length)
  expect(as.refreshReuses.length).toBeGreaterThanOrEqual(recorded.size)
  expect(recorded.size).toBeGreaterThanOrEqual(outcomesLost)
  expect([...statuses].filter((status) => !['pending', 'completed', 'failed'].includes(status))).toEqual([])
  expect([...byStatus.keys()].filter((status) => status === 500)).toEqual([])
  expect(given.length).toBeGreaterThan(held.length)
}
