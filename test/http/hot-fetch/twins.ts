import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { expireApprovals } from '../../../src/features/approvals/expire-approvals.ts'
import { startFakeAuthorizationServer } from '../../fake-authorization-server.ts'
import { type Gatepass, startGatepass, testClock } from '../../gatepass.ts'
import { withoutJobs } from '../../without-jobs.ts'
import { approve, providerBody } from '../world.ts'
import type { Known } from './generate.ts'
import { exchange, type RawExchange, type RawResponse } from './raw-exchange.ts'

/** Two servers on copies of one database: one with the hot fetch, one that answers all by the usual route. */
export interface Twins extends AsyncDisposable {
  readonly known: Known
  readonly hot: Gatepass
  readonly usual: Gatepass
  /** Runs jobs of the background, which do not run by themselves: when they would depends on how long the requests take. */
  runJobs(): Promise<void>
  advance(seconds: number): void
  /** Changes both by the API. */
  change(method: string, path: string, body?: object): Promise<void>
  /** Sends the bytes to both, and compares the answers. `what` names the request in a failure. */
  compare(request: RawExchange, what: string): Promise<readonly RawResponse[]>
  /** Compares the audit trails, metrics, logs, and times of last use. */
  compareTraces(): Promise<void>
}

export async function startTwins(): Promise<Twins> {
  const clock = testClock()
  const as = await startFakeAuthorizationServer({ now: () => clock() * 1000 })
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-twins-'))
  const file = (name: string) => join(folder, `${name}.db`)
  const environment = {
    GATEPASS_PUBLIC_URL: 'http://127.0.0.1:8400',
    GATEPASS_NEXT_URIS: 'https://app.example.test',
    GATEPASS_METRICS: 'open',
  }
  const first = await startGatepass({ now: clock, databasePath: file('hot') })
  const known = await populate(first, as)
  await first.close()
  await copyFile(file('hot'), file('usual'))
  const hot = await withoutJobs(() => startGatepass({ now: clock, environment, databasePath: file('hot') }))
  const usual = await withoutJobs(() =>
    startGatepass({ now: clock, environment, databasePath: file('usual'), hotFetch: false }),
  )
  const same = createSame()

  const compare: Twins['compare'] = async (request, what) => {
    const byHot = await exchange(hot.config.port, request)
    const byUsual = await exchange(usual.config.port, request)
    same(byHot, byUsual, what)
    return byHot
  }

  return {
    known,
    hot,
    usual,
    async runJobs() {
      for (const { broker } of [hot, usual]) {
        await broker.uses.flush()
        await expireApprovals(broker)
      }
    },
    advance: (seconds) => clock.advance(seconds),
    async change(method, path, body) {
      const answers = []
      for (const { call } of [hot, usual]) answers.push(await call(method, path, body))
      const [a, b] = answers
      expect(a?.status, `${method} ${path}`).toBe(b?.status)
      expect(a?.status, JSON.stringify(a?.body)).toBeLessThan(300)
    },
    compare,
    async compareTraces() {
      same(await countsOf(hot), await countsOf(usual), 'the metrics')
      same(logOf(hot), logOf(usual), 'the logs')
      same.inAnyOrder(await trailOf(hot), await trailOf(usual), 'the audit trails')
      same(await usesOf(hot), await usesOf(usual), 'the times of last use')
    },
    async [Symbol.asyncDispose]() {
      await hot.close()
      await usual.close()
      await as.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Users in all states, providers, policies and keys. */
async function populate(
  { call, makeKey }: Gatepass,
  as: Awaited<ReturnType<typeof startFakeAuthorizationServer>>,
): Promise<Known> {
  const ok = async (method: string, path: string, body?: object) => {
    const answer = await call(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const connect = async (user: string, scopes: readonly string[], more: object = {}) => {
    const need = { auth_requirement: { id: 'demo', oauth2: { scopes } }, user_id: user, ...more }
    await approve((await ok('POST', '/v1/auth/authorize', need)).url)
  }
  await ok('POST', '/v1/admin/auth_providers', providerBody('demo', as))
  await ok('POST', '/v1/admin/auth_providers', providerBody('other', as))
  await ok('POST', '/v1/admin/auth_providers', { ...providerBody('closed', as), status: 'inactive' })
  await ok('POST', '/v1/admin/auth_providers', {
    id: 'machine',
    oauth2: {
      grant: { type: 'client_credentials' },
      client_id: as.clientId,
      client_secret: as.clientSecret,
      token_request: { endpoint: as.tokenUrl, auth_method: 'client_secret_basic' },
    },
  })
  await ok('POST', '/v1/admin/connections', {
    provider_id: 'machine',
    owner: 'project',
    name: 'CRM',
    shared_with: { users: ['ada', 'dan'] },
  })
  await connect('ada', ['read', 'write'])
  for (const user of ['bob', 'cy', 'eve', 'duo', 'rob', 'ida', 'ädä 😀']) await connect(user, ['read'])
  as.account = { sub: 'u-2', name: 'Second', email: 'second@example.test', login: 'second' }
  await connect('duo', ['read'], { account: 'new' })
  const { items } = await ok('GET', '/v1/connections?limit=100')
  const idOf = (user: string): string =>
    items.find((one: { user_id: string; id: string }) => one.user_id === user).id
  as.behaviour.refresh = 'refuse'
  await call('POST', `/v1/connections/${idOf('cy')}/token`, { force_refresh: true })
  as.behaviour.refresh = 'static'
  await ok('DELETE', `/v1/connections/${idOf('eve')}`)
  await makeKey('approver')
  await ok('POST', '/v1/admin/policies', { id: 'no-rob', effect: 'deny', match: { users: ['rob'] } })
  await ok('POST', '/v1/admin/policies', {
    id: 'ask-ida',
    effect: 'approve',
    match: { users: ['ida'] },
    approve: { by: { group: 'security' } },
  })

  const keyOf = async (body: object): Promise<string> => (await ok('POST', '/v1/admin/keys', body)).key
  const caller = await keyOf({ role: 'caller' })
  const revoked = await ok('POST', '/v1/admin/keys', { role: 'caller' })
  await ok('DELETE', `/v1/admin/keys/${revoked.id}`)
  return {
    keys: [
      caller,
      caller,
      await keyOf({ role: 'admin' }),
      await keyOf({ role: 'readonly' }),
      await keyOf({ role: 'caller', user_id: 'ada' }),
      await keyOf({ role: 'caller', expires_in: 900 }),
      await makeKey('caller', 'elsewhere'),
    ],
    limitedKey: await keyOf({ role: 'caller', rate_limit: 2 }),
    unknownKeys: ['gp_unknown', revoked.key],
    users: ['ada', 'ada', 'bob', 'bob', 'cy', 'dan', 'eve', 'duo', 'rob', 'ida', 'ädä 😀'],
    providers: ['demo', 'demo', 'demo', 'other', 'closed', 'machine', 'DEMO', 'nothing'],
    accounts: ['new', 'u-1', 'u-2', 'Second', idOf('ada'), idOf('duo'), 'nobody'],
    connections: [
      ...items.map(({ id }: { id: string }) => id),
      idOf('ada'),
      idOf('bob'),
      'conn_0198f6e2a1c97d3fb2a45d1c7e9f0a31',
      'x',
      'ä',
      'a%20b',
      'x'.repeat(201),
    ],
  }
}

/** Texts that two servers choose by chance: ids, tokens, and hashes of tokens. */
const CHOSEN =
  /\b(?:auth|conn|appr|exec|key|shared|evt)_[0-9a-f]{32}\b|\b[ar]t_1[\w-]{32}|\b[0-9a-f]{12}-[0-9a-z]+\b|\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b|(?<=fingerprint\\*":\\*")[\w-]{22}/g

/** Compares two values but for what is chosen by chance: where one value repeats such a text, so must the other. */
function createSame() {
  const partners = [new Map<string, string>(), new Map<string, string>()] as const

  function same(hot: unknown, usual: unknown, what: string): void {
    const [a, b] = [JSON.stringify(hot, null, 1), JSON.stringify(usual, null, 1)]
    expect(a.replaceAll(CHOSEN, '<chosen>'), what).toBe(b.replaceAll(CHOSEN, '<chosen>'))
    const [ofHot, ofUsual] = [a.match(CHOSEN) ?? [], b.match(CHOSEN) ?? []]
    for (const [i, one] of ofHot.entries()) {
      const other = ofUsual[i] ?? ''
      for (const [from, to, known] of [
        [one, other, partners[0]],
        [other, one, partners[1]],
      ] as const) {
        expect(known.get(from) ?? to, `${what}: ${from}`).toBe(to)
        known.set(from, to)
      }
    }
  }

  /** Compares lists in which requests that ran at once are in any order. Texts that no answer had are left out. */
  function inAnyOrder(hot: readonly string[], usual: readonly string[], what: string): void {
    const [toUsual, toHot] = partners
    const a = hot.map((line) => line.replaceAll(CHOSEN, (text) => toUsual.get(text) ?? '<chosen>'))
    const b = usual.map((line) => line.replaceAll(CHOSEN, (text) => (toHot.has(text) ? text : '<chosen>')))
    expect(a.sort(), what).toEqual(b.sort())
  }

  return Object.assign(same, { inAnyOrder })
}

/** All counters, and how many times were measured. */
async function countsOf({ broker }: Gatepass): Promise<readonly string[]> {
  const families = await broker.metrics.families()
  return families
    .filter(({ type }) => type !== 'gauge')
    .flatMap(({ name, type, values }) =>
      values.flatMap((sample) => {
        const { labels, value, metricName = name } = sample as typeof sample & { metricName?: string }
        return type === 'histogram' && !metricName.endsWith('_count')
          ? []
          : [`${metricName} ${JSON.stringify(labels)} ${value}`]
      }),
    )
    .sort()
}

function logOf({ logLines }: Gatepass): readonly object[] {
  return logLines.map((line) => ({ ...JSON.parse(line), ms: 0 })).filter(({ level }) => level !== 'info')
}

async function trailOf({ broker }: Gatepass): Promise<readonly string[]> {
  const lines: string[] = []
  for (const { id } of await broker.store.projects.list()) {
    // no request waits for the entry of its refusal, but entries are written in their order
    await broker.audit.record(id, { action: 'access.refused', reason: 'the last entry' })
    const blocks = await broker.store.audit.blocks(id, { order: 'oldest first', limit: 1_000_000 })
    lines.push(...blocks.flatMap(({ text }) => text.split('\n')))
  }
  return lines
}

async function usesOf({ call, broker }: Gatepass): Promise<readonly unknown[]> {
  await broker.uses.flush()
  const lists = ['/v1/admin/keys?limit=100', '/v1/connections?limit=100']
  return Promise.all(lists.map(async (path) => (await call('GET', path)).body.items))
}
