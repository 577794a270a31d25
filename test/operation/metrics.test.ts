import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMetrics } from '../../src/services/metrics.ts'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { toolMetadata } from '../fixtures.ts'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'
import { UserAgent } from '../user-agent.ts'

let as: FakeAuthorizationServer
beforeEach(async () => {
  as = await startFakeAuthorizationServer()
})
afterEach(() => as.close())

/** Every sample, by its name with its labels as they are written. */
async function scrape(gatepass: Gatepass): Promise<Map<string, number>> {
  const response = await fetch(`${gatepass.url}/metrics`, {
    headers: { authorization: `Bearer ${gatepass.apiKey}` },
  })
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const samples = new Map<string, number>()
  const described = new Set<string>()
  for (const line of (await response.text()).split('\n').filter(Boolean)) {
    const [, name = '', type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    if (type !== undefined) {
      expect(described).not.toContain(name)
      described.add(name)
    }
    if (line.startsWith('#')) continue
    const [, sample = '', value] = /^([a-z0-9_]+(?:\{.*\})?) (\S+)$/.exec(line) ?? []
    expect(sample, line).not.toBe('')
    expect(samples, 'told twice').not.toContain(sample)
    samples.set(sample, Number(value))
  }
  return samples
}

async function connect(gatepass: Gatepass, user = 'ada'): Promise<string> {
  const begun = await authorize(gatepass, user)
  const browser = new UserAgent()
  await browser.submitForm(await browser.get(begun.body.url))
  const { body } = await gatepass.call('GET', `/v1/connections?user_id=${user}`)
  return body.items[0]?.id
}

const authorize = (gatepass: Gatepass, user: string) =>
  gatepass.call('POST', '/v1/auth/authorize', {
    auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
    user_id: user,
  })

async function withTool(options: Parameters<typeof startGatepass>[0] = {}): Promise<Gatepass> {
  const gatepass = await startGatepass(options)
  expect((await gatepass.call('POST', '/v1/tools/import', toolMetadata(as))).status).toBe(200)
  return gatepass
}

/** Dashboards and alerts name these metrics, so a name, type or unit is never changed. */
const PUBLISHED = [
  ['gatepass_http_requests_total', 'counter', 'Requests that were answered'],
  [
    'gatepass_http_request_duration_seconds',
    'histogram',
    'From the request to its answer; long polls last as long as they wait',
  ],
  ['gatepass_token_fetches_total', 'counter', 'Tokens that were asked for'],
  ['gatepass_refreshes_total', 'counter', 'Refreshes that ended'],
  ['gatepass_tool_runs_total', 'counter', 'Runs of tools that ended'],
  [
    'gatepass_tool_run_duration_seconds',
    'histogram',
    'From the call of a tool to its end, what it waits for included',
  ],
  ['gatepass_outgoing_requests_total', 'counter', 'Requests to providers and workers'],
  ['gatepass_outgoing_request_duration_seconds', 'histogram', 'From the request to the end of its answer'],
  ['gatepass_authorizations_begun_total', 'counter', 'Authorizations that began'],
  ['gatepass_authorizations_completed_total', 'counter', 'Authorizations that completed'],
  ['gatepass_authorizations_failed_total', 'counter', 'Authorizations that failed'],
  [
    'gatepass_audit_commit_duration_seconds',
    'histogram',
    'Time to commit a batch of releases to the audit trail',
  ],
  [
    'gatepass_database_busy_retries_total',
    'counter',
    'Statements that were tried again because another process had locked the SQLite file',
  ],
  [
    'gatepass_altered_rows_total',
    'counter',
    'Reads of rows with a wrong MAC: another program changed them, so they are ignored',
  ],
  [
    'gatepass_executions_dropped_total',
    'counter',
    'Runs that are not in the history, because they could not be written in time',
  ],
  ['gatepass_providers_held_back', 'gauge', 'Providers whose refreshes are held back'],
  ['gatepass_policy_refusals_total', 'counter', 'Uses that a policy refused'],
  ['gatepass_rate_limited_total', 'counter', 'Requests refused because there were too many'],
  ['gatepass_code_running', 'gauge', 'Pieces of code under way'],
  ['gatepass_proxy_requests_running', 'gauge', 'Requests that are being forwarded'],
  ['gatepass_database_writable', 'gauge', 'Whether the last probe could commit to the database; 1 or 0'],
  ['gatepass_processes', 'gauge', 'Processes that serve together'],
  ['gatepass_build_info', 'gauge', 'The release that runs'],
  ['gatepass_waiters', 'gauge', 'Long polls and event streams that wait'],
  ['gatepass_refreshes_running', 'gauge', 'Refreshes under way'],
  ['gatepass_cache_entries', 'gauge', 'Entries in each cache'],
  ['gatepass_cache_bytes', 'gauge', 'Memory of caches that are sized in bytes, estimated'],
  ['gatepass_cache_hits_total', 'counter', 'Reads that were answered from memory'],
  ['gatepass_cache_misses_total', 'counter', 'Reads that had to ask the database'],
  ['gatepass_cache_evictions_total', 'counter', 'Values removed to make room for others'],
  ['gatepass_authorizations_pending', 'gauge', 'Authorizations under way'],
  ['gatepass_uses_waiting', 'gauge', 'Last-used times that are to be written'],
  ['gatepass_uses_dropped_total', 'counter', 'Last-used times that could not be written in time'],
  ['gatepass_executions_waiting', 'gauge', 'Runs that are to be written into the history'],
  ['gatepass_audit_waiting', 'gauge', 'Releases of tokens that wait for their commit'],
  ['gatepass_http_requests_running', 'gauge', 'Requests under way'],
] as const

describe('GET /metrics', () => {
  test('has every published metric under its name, with its type and help', async () => {
    await using gatepass = await withTool()
    await connect(gatepass)
    const text: string = (await gatepass.call('GET', '/metrics')).body
    for (const [name, type, help] of PUBLISHED)
      expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`)
  })

  test('counts requests by route, never by path, and how long they took', async () => {
    await using gatepass = await withTool()
    for (const id of ['conn_a', 'conn_b', 'conn_c']) await gatepass.call('GET', `/v1/connections/${id}`)
    await gatepass.call('GET', '/v1/tools', undefined, { key: null })
    await gatepass.call('GET', '/nowhere/at/all')
    await gatepass.call('GET', '/connect/auth_unknown')
    const samples = await scrape(gatepass)
    const requests = (method: string, route: string, status: string) =>
      samples.get(`gatepass_http_requests_total{method="${method}",route="${route}",status="${status}"}`)
    expect(requests('GET', '/v1/connections/{id}', '4xx')).toBe(3)
    expect(requests('GET', '/v1/tools', '4xx')).toBe(1)
    expect(requests('POST', '/v1/tools/import', '2xx')).toBe(1)
    expect(requests('any', 'unknown', '4xx')).toBe(1)
    expect(requests('GET', '/connect/*', '4xx')).toBe(1)
    const route = 'method="GET",route="/v1/connections/{id}"'
    expect(samples.get(`gatepass_http_request_duration_seconds_count{${route}}`)).toBe(3)
    expect(samples.get(`gatepass_http_request_duration_seconds_bucket{${route},le="+Inf"}`)).toBe(3)
    expect(samples.get(`gatepass_http_request_duration_seconds_sum{${route}}`)).toBeGreaterThan(0)
    expect([...samples.keys()].join()).not.toMatch(/conn_a|nowhere|auth_unknown/)
  })

  test('counts a repeated answer, and what is refused before an endpoint sees it', async () => {
    await using gatepass = await startGatepass()
    const headers = { 'idempotency-key': 'twice' }
    const execute = (key = gatepass.apiKey) =>
      gatepass.call('POST', '/v1/tools/execute', { tool_name: 'Nothing' }, { key, headers })
    const first = await execute()
    expect([first.status, (await execute()).body]).toEqual([404, first.body])
    expect((await execute('gp_unknown')).status).toBe(401)
    const below = (project: string, key: string | null = gatepass.apiKey) =>
      gatepass.call('GET', `/v1/orgs/any/projects/${project}/tools`, undefined, { key })
    expect((await below('default')).status).toBe(200)
    expect((await below('another')).status).toBe(404)
    expect((await below('default', null)).status).toBe(401)
    const samples = await scrape(gatepass)
    const requests = (route: string) =>
      [...samples].filter(
        ([name]) => name.startsWith('gatepass_http_requests_total{') && name.includes(`route="${route}"`),
      )
    expect(requests('/v1/tools/execute').map(([, count]) => count)).toEqual([3])
    expect(requests('/v1/tools').map(([, count]) => count)).toEqual([1])
    expect(requests('/v1/orgs/{org}/projects/{project}/{path}').map(([, count]) => count)).toEqual([2])
  })

  test('counts a page once, though two routes of pages match it', async () => {
    await using gatepass = await startGatepass()
    for (const path of ['/me/left', '/me', '/docs', '/dashboard'])
      await fetch(`${gatepass.url}${path}`, { redirect: 'manual' })
    const counts = [...(await scrape(gatepass))].flatMap(([sample, count]) => {
      const [, route = ''] = /^gatepass_http_requests_total\{method="GET",route="([^"]+)"/.exec(sample) ?? []
      return /^\/(?:me|docs|dashboard)\b/.test(route) ? [[route, count]] : []
    })
    expect(Object.fromEntries(counts)).toEqual({ '/me/*': 1, '/me': 1, '/docs': 1, '/dashboard': 1 })
  })

  test('says how often the connections that a fetch needs were in memory, and what they take there', async () => {
    await using gatepass = await withTool()
    const id = await connect(gatepass)
    const figures = async () => {
      const samples = await scrape(gatepass)
      const of = (name: string) => samples.get(`gatepass_cache_${name}{cache="connections"}`) ?? 0
      return {
        hits: of('hits_total'),
        misses: of('misses_total'),
        evictions: of('evictions_total'),
        entries: of('entries'),
        bytes: of('bytes'),
      }
    }
    const before = await figures()
    for (let i = 0; i < 5; i++) await gatepass.call('POST', `/v1/connections/${id}/token`)
    const after = await figures()
    expect(after.hits + after.misses - before.hits - before.misses).toBe(5)
    expect(after.hits - before.hits).toBeGreaterThanOrEqual(3)
    expect(after).toMatchObject({ entries: 1, evictions: 0 })
    expect(after.bytes).toBeGreaterThan(1_000)
    expect(after.bytes).toBeLessThan(20_000)
  })

  test('counts authorizations, tokens, refreshes and what the provider was asked', async () => {
    const now = testClock()
    await using gatepass = await withTool({ now })
    as.behaviour.accessTokenLifetime = 3600
    const id = await connect(gatepass)
    await gatepass.call('POST', `/v1/connections/${id}/token`)
    now.advance(3600)
    await gatepass.call('POST', `/v1/connections/${id}/token`)
    as.behaviour.consent = 'deny'
    await connect(gatepass, 'eve')
    await authorize(gatepass, 'bob')

    const samples = await scrape(gatepass)
    expect(Object.fromEntries([...samples].filter(([name]) => WHAT_HAPPENED.test(name)))).toEqual({
      gatepass_authorizations_begun_total: 3,
      gatepass_authorizations_completed_total: 1,
      'gatepass_authorizations_failed_total{reason="access_denied"}': 1,
      gatepass_authorizations_pending: 1,
      'gatepass_refreshes_total{provider="demo",outcome="refreshed"}': 1,
      'gatepass_token_fetches_total{provider="demo",outcome="authorization_required"}': 3,
      'gatepass_token_fetches_total{provider="demo",outcome="ready"}': 2,
      'gatepass_outgoing_requests_total{kind="exchange",outcome="2xx"}': 1,
      'gatepass_outgoing_requests_total{kind="refresh",outcome="2xx"}': 1,
    })
    expect(samples.get('gatepass_outgoing_request_duration_seconds_count{kind="refresh"}')).toBe(1)
    expect(samples.get('gatepass_audit_commit_duration_seconds_count')).toBeGreaterThan(0)
  })

  test('counts an authorization that its user has cancelled as failed', async () => {
    await using gatepass = await withTool()
    const { url } = (await authorize(gatepass, 'bob')).body
    const browser = new UserAgent()
    await browser.get(url)
    await browser.post(`${url}/cancel`, {})
    const samples = await scrape(gatepass)
    expect(samples.get('gatepass_authorizations_failed_total{reason="access_denied"}')).toBe(1)
  })

  test('tells how the process is doing', async () => {
    await using gatepass = await withTool()
    await gatepass.call('GET', '/ready')
    const samples = await scrape(gatepass)
    for (const [name, value] of [
      ['gatepass_processes', 1],
      ['gatepass_waiters', 0],
      ['gatepass_refreshes_running', 0],
      ['gatepass_audit_waiting', 0],
      ['gatepass_database_writable', 1],
      ['gatepass_database_busy_retries_total', 0],
      ['gatepass_http_requests_running', 1],
    ] as const)
      expect(samples.get(name), name).toBe(value)
    expect([...samples.keys()]).toContainEqual(expect.stringMatching(/^gatepass_build_info\{version="\d/))
    expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1e6)
    expect(samples.get('process_start_time_seconds')).toBeGreaterThan(1e9)
  })

  test('tells how long the event loop was held', async () => {
    await using gatepass = await withTool()
    await scrape(gatepass) // measured from the first look on
    await sleep(50)
    const until = performance.now() + 300
    while (performance.now() < until) Math.random()
    await sleep(50) // the delay is sampled when the loop turns again
    const samples = await scrape(gatepass)
    expect(samples.get('nodejs_eventloop_lag_max_seconds')).toBeGreaterThan(0.2)
    expect(samples.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0.2)
  })

  test('holds no user, no project, no key and no secret', async () => {
    await using gatepass = await withTool()
    const user = 'ada.lovelace@example.test'
    const id = await connect(gatepass, user)
    const { body } = await gatepass.call('POST', `/v1/connections/${id}/token`)
    const project = (await gatepass.broker.store.projects.list())[0]?.id ?? ''
    const text = (await gatepass.call('GET', '/metrics')).body
    for (const secret of [user, id, project, body.access_token, gatepass.apiKey, ...as.secrets()])
      expect(text).not.toContain(secret)
  })

  test.each([
    ['serve', undefined, [401, 200]],
    ['serve', 'open', [200, 200]],
    ['serve', 'key', [401, 200]],
    ['serve', 'off', [404, 404]],
    ['development', undefined, [200, 200]],
    ['development', 'key', [401, 200]],
  ] as const)('in %s with GATEPASS_METRICS=%s', async (mode, access, expected) => {
    await using gatepass = await startGatepass({
      mode,
      ...(access !== undefined && { environment: { GATEPASS_METRICS: access } }),
    })
    const key = await gatepass.makeKey('readonly')
    const statuses = [null, key].map(
      async (key) => (await gatepass.call('GET', '/metrics', undefined, { key })).status,
    )
    expect(await Promise.all(statuses)).toEqual(expected)
  })
})

test('a key of another project sees no names of providers and policies, and the same sums', async () => {
  await using gatepass = await withTool()
  const id = await connect(gatepass)
  const fetchToken = () => gatepass.call('POST', `/v1/connections/${id}/token`)
  expect((await fetchToken()).status).toBe(200)
  const rule = { id: 'secret-plans', effect: 'deny', match: { users: ['ada'] } }
  expect((await gatepass.call('POST', '/v1/admin/policies', rule)).status).toBe(201)
  expect((await fetchToken()).status).toBe(403)

  const read = async (key?: string) =>
    (await gatepass.call('GET', '/metrics', undefined, key === undefined ? {} : { key })).body as string
  const samplesOf = (text: string) =>
    text.split('\n').filter((line) => line.startsWith('gatepass_token_fetches_total{'))
  const sum = (lines: string[]) => lines.reduce((all, line) => all + Number(line.split(' ').at(-1)), 0)
  const whole = await read()
  const foreign = await read(await gatepass.makeKey('admin', 'another'))
  for (const name of ['"demo"', '"secret-plans"']) {
    expect(whole).toContain(name)
    expect(foreign).not.toContain(name)
  }
  expect(foreign).toContain('gatepass_policy_refusals_total{policy="other",reason="denied"} 1')
  expect(sum(samplesOf(foreign))).toBe(sum(samplesOf(whole)))
  expect(sum(samplesOf(foreign))).toBeGreaterThan(0)
})

const WHAT_HAPPENED =
  /^gatepass_(authorizations|refreshes|token_fetches|outgoing_requests).*(?:_total|pending)/

test('a label that takes ever new values stays bounded', async () => {
  const metrics = createMetrics()
  for (let i = 0; i < 20_000; i++) metrics.refreshed(`provider-${i}`, 'refreshed')
  const family = (await metrics.families()).find(({ name }) => name === 'gatepass_refreshes_total')
  expect(family?.values.length).toBeLessThanOrEqual(1_001)
  expect(family?.values.find(({ labels }) => labels.provider === 'other')?.value).toBe(19_000)
  expect(family?.values.reduce((sum, { value }) => sum + value, 0)).toBe(20_000)
})

test('a figure that cannot be read leaves the others', async () => {
  const metrics = createMetrics()
  metrics.gauge('gatepass_broken', 'Broken', () => Promise.reject(new Error('no database')))
  metrics.counted('gatepass_absent_total', 'Absent', () => undefined)
  metrics.gauge('gatepass_fine', 'Fine', () => 7)
  const names = (await metrics.families()).map(({ name }) => name)
  expect(names).toContain('gatepass_fine')
  expect(names).not.toContain('gatepass_broken')
  expect(names).not.toContain('gatepass_absent_total')
})

test('a distribution puts each value into the first bucket that holds it', async () => {
  const metrics = createMetrics()
  const histogram = metrics.histogram('gatepass_some_seconds', 'Some', { buckets: [1, 2] })
  for (const value of [0.5, 1, 1.5, 2, 3]) histogram.observe(value)
  const family = (await metrics.families()).find(({ name }) => name === 'gatepass_some_seconds')
  expect(family?.values.map(({ metricName, labels, value }) => [metricName, labels.le, value])).toEqual([
    ['gatepass_some_seconds_bucket', 1, 2],
    ['gatepass_some_seconds_bucket', 2, 4],
    ['gatepass_some_seconds_bucket', '+Inf', 5],
    ['gatepass_some_seconds_sum', undefined, 8],
    ['gatepass_some_seconds_count', undefined, 5],
  ])
})
