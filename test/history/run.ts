import { setTimeout as sleep } from 'node:timers/promises'
import type { AnyJson } from '../any-json.ts'
import type { DatabaseKind } from '../faults/installation.ts'
import { check, LIVENESS_MS, type Violation } from './check.ts'
import { choices } from './choices.ts'
import { doFaults } from './faults.ts'
import type { End, History } from './history.ts'
import { approve, type Load, type Recorded, startLoad, USERS } from './operations.ts'
import type { Replicated } from './replicated.ts'
import { openWorld, type World } from './world.ts'

const PAUSE_MS = 200

export interface RunOptions {
  readonly kind: DatabaseKind
  readonly seed: number
  /** How long load and random faults last; the start before them and the calm after them come on top. */
  readonly seconds?: number
  /** The address of an empty PostgreSQL database. */
  readonly databaseUrl?: string
  /** The server of that database, if no others use it. */
  readonly server?: Replicated
  readonly mayLose?: boolean
  /** Makes faults in place of the random ones; the load lasts as long. */
  readonly faults?: (world: World, load: Load) => Promise<void>
}

export interface RunReport {
  readonly violations: readonly Violation[]
  readonly counts: Readonly<Record<string, number>>
  readonly history: History
}

/** Makes one history and checks it: load and faults, then calm without both, then the checks. */
export async function runHistory({
  kind,
  seed,
  seconds = 0,
  databaseUrl,
  server,
  mayLose = false,
  faults,
}: RunOptions): Promise<RunReport> {
  const given = choices(seed)
  await using world = await openWorld(kind, given.branch('world'), databaseUrl)
  const load = startLoad(world, given.branch('clients'))
  const parts = { world, choices: given.branch('faults'), until: world.now() + seconds * 1000 }
  if (faults === undefined) await doFaults({ ...parts, mayLose, ...(server && { server }) })
  else await faults(world, load)
  await load.stop()
  const end = await calm(world)
  const history = await historyOf(world, load, end)
  return { violations: check(history), counts: countsOf(history), history }
}

/**
 * Restores every link and restarts every dead process. Ends the leases and claims of dead processes. Then every user must
 * get a token.
 */
async function calm(world: World): Promise<End> {
  for (const { link } of world.slots) link?.restore()
  world.as.behaviour.accessTokenLifetime = 3600
  await world.setClock(0)
  for (const [slot, { node }] of world.slots.entries()) if (!node.isRunning) await world.restart(slot)
  await liftPolicies(world)
  let began = world.now()
  await world.installation.untilNoRefresh()
  let settledMs = world.now() - began
  await world.installation.lapseLost()
  const waiting = new Set<string>(USERS)
  while (waiting.size > 0 && settledMs < LIVENESS_MS) {
    for (const user of [...waiting]) {
      began = world.now()
      const step = await nextStep(world, user)
      if (step === 'has token') waiting.delete(user)
      // consents and answered requests take longer on a slow machine, without a wait
      if (step === 'refused') settledMs += world.now() - began
    }
    if (waiting.size === 0) break
    await sleep(PAUSE_MS)
    settledMs += PAUSE_MS
  }
  const listed = await insist(world, 'GET', '/v1/connections?limit=100')
  const metrics = await Promise.all(world.slots.map(({ node }) => node.get('/metrics')))
  return {
    connections: listed.items.map(({ id }: { id: string }) => id),
    ...(waiting.size === 0 && { settledMs }),
    unsettled: [...waiting],
    losses: metrics.map(({ body }) => Number(/^gatepass_database_losses_total (\d+)$/m.exec(body)?.[1] ?? 0)),
  }
}

async function liftPolicies(world: World): Promise<void> {
  const { items } = await insist(world, 'GET', '/v1/admin/policies?limit=100')
  for (const { id } of items) await world.ask(0, 'DELETE', `/v1/admin/policies/${id}`)
  const left = await insist(world, 'GET', '/v1/admin/policies?limit=100')
  if (left.items.length > 0) await liftPolicies(world)
}

type Step = 'has token' | 'has approved' | 'refused'

/** Asks every node for the user's token. A user who must approve first does so, and is asked about again later. */
async function nextStep(world: World, user: string): Promise<Step> {
  const listed = await world.ask(0, 'GET', `/v1/connections?user_id=${user}`)
  if (listed?.status !== 200) return 'refused'
  const id = listed.body.items[0]?.id
  if (id === undefined) return consent(world, user)
  for (const slot of world.slots.keys()) {
    const answer = await world.ask(slot, 'POST', `/v1/connections/${id}/token`)
    if (answer?.status === 403 && answer.body.name === 'authorization_required') return consent(world, user)
    if (answer?.status !== 200) return 'refused'
  }
  return 'has token'
}

async function consent(world: World, user: string): Promise<Step> {
  const body = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: user }
  const begun = await world.ask(0, 'POST', '/v1/auth/authorize', { body })
  if (begun?.status !== 200) return 'refused'
  if (begun.body.status === 'pending') await approve(begun.body.url)
  return 'has approved'
}

async function insist(world: World, method: string, path: string): Promise<AnyJson> {
  const end = world.now() + LIVENESS_MS
  for (;;) {
    const answer = await world.ask(0, method, path)
    if (answer?.status === 200) return answer.body
    if (world.now() > end) throw new Error(`${method} ${path} is answered ${answer?.status} when it is calm`)
    await sleep(100)
  }
}

async function historyOf(world: World, { requests }: Load, end: End): Promise<History> {
  const trail = await world.installation.trail()
  const toRequest = ({ token, ...request }: Recorded) => ({
    ...request,
    ...(token !== undefined && { fingerprint: trail.fingerprint(token) }),
  })
  const entries = (action: string) => trail.tokens.filter((one) => one.action === action)
  return {
    requests: requests.map(toRequest),
    faults: world.faults,
    calls: world.calls,
    provider: {
      codes: world.as
        .tokenRequests('authorization_code')
        .map(({ params }) => ({ at: 0, code: String(params.code) })),
      refreshes: world.refreshes.map(({ issued, ...one }) => ({
        ...one,
        ...(issued !== undefined && { issued: trail.fingerprint(issued) }),
      })),
      reuses: world.as.refreshReuses,
    },
    trail: {
      faults: trail.faults,
      released: entries('token.released').map((one) => ({
        requestId: String(one.request_id),
        user: String(one.user_id),
        connection: String(one.connection_id),
        fingerprint: String(one.fingerprint),
      })),
      refreshed: entries('connection.refreshed').map((one) => ({
        connection: String(one.connection_id),
        fingerprint: String(one.fingerprint),
      })),
      ended: entries('connection.needs_authorization').map((one) => ({
        connection: String(one.connection_id),
        reason: String(one.reason),
      })),
    },
    end,
  }
}

function countsOf({ requests, faults, provider, calls, trail, end }: History): Record<string, number> {
  const given = requests.filter(({ fingerprint }) => fingerprint !== undefined).length
  const unanswered = requests.filter(({ status }) => status === undefined).length
  const of = (kind: string) => faults.filter((one) => one.kind === kind).length
  return {
    requests: requests.length,
    'without an answer': unanswered,
    'tokens answered': given,
    refreshes: provider.refreshes.length,
    'of them with a used refresh token': provider.reuses.length,
    'connections whose outcome was lost': trail.ended.length,
    'tools called': calls.length,
    'approvals given': requests.filter(({ approves, status }) => approves !== undefined && status === 200)
      .length,
    'approved calls answered': requests.filter((one) => one.operation === 'run approved' && one.succeeded)
      .length,
    'kill -9': of('kill'),
    stops: of('stop'),
    'database restarts': of('restart database'),
    failovers: of('failover'),
    'failovers with losses': of('lossy failover'),
    'addresses at a standby': of('address at a standby'),
    'clocks set': of('clock'),
    'links cut, stalled or delayed': of('link'),
    'answers held or lost': of('answer held') + of('answer lost'),
    'ms until all had a token once it was calm': Math.round(end.settledMs ?? -1),
  }
}
