// `npm run soak -- --minutes 5`: a real server under a mixed load for some minutes. Fails when its memory keeps growing
// after the warm-up, when a connection that it acknowledged is lost, or when a token that it answered is not in the audit
// trail. `--postgres`: on PostgreSQL.

import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { median, quantile, whole } from '../bench/report.ts'
import { startFakeAuthorizationServer } from './fake-authorization-server.ts'
import { startFakeWorker } from './fake-worker.ts'
import { addProvider, begin, connectionOf, fetchToken, statusOf } from './faults/clients.ts'
import { type Answer, install } from './faults/installation.ts'
import { startPostgres } from './postgres.ts'
import { API_KEY } from './served.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    postgres: { type: 'boolean', default: false },
    clients: { type: 'string', default: '16' },
  },
})
const minutes = Number(values.minutes)
if (!(minutes > 0)) throw new Error('--minutes wants a number')

const LIFE_SECONDS = 1
const SAMPLE_MS = 1_000
const LINE_MS = 10_000
/** The first part of the run, in which code is compiled and caches fill. */
const WARM_UP = 0.2
/**
 * The most by which memory may grow. Resident memory goes up and down with garbage collections: the median of the last
 * third over that of the first. Heap: its size after a forced collection at the end, over that after the warm-up.
 */
const MOST_GROWTH = { rss: 1.2, heap: 1.1 }
const WORKER_SECRET = 'worker-secret-of-the-soak'

interface Sample {
  readonly at: number
  readonly rss: number
  readonly heap: number
}

interface Held {
  readonly id: string
  readonly user: string
}

await using cluster = values.postgres ? await startPostgres() : undefined
const as = await startFakeAuthorizationServer({
  refresh: 'rotate-strict',
  accessTokenLifetime: LIFE_SECONDS,
  refreshDelayMs: 10,
})
const worker = await startFakeWorker({
  secret: WORKER_SECRET,
  requirement: { id: 'demo', scopes: ['read'] },
})
await using installation = await install(cluster ? 'PostgreSQL' : 'SQLite', {}, cluster?.url)
const node = await installation.start({
  nodeArgs: ['--expose-gc', '--import', new URL('./faults/heap.ts', import.meta.url).href],
})
await addProvider(installation, as)
const registered = await installation.call('POST', '/v1/workers', {
  id: 'demo',
  http: { uri: worker.url, secret: WORKER_SECRET, timeout: 5, retry: 0 },
})
if (registered.status !== 201) throw new Error(`the worker was refused: ${JSON.stringify(registered.body)}`)

console.log(`$ npm run soak -- --minutes ${minutes}${values.postgres ? ' --postgres' : ''}
${cpus()[0]?.model} x ${cpus().length}, Node ${process.versions.node}, ${new Date().toISOString()}, ${installation.kind}, ${values.clients} clients, tokens of ${LIFE_SECONDS} s
`)

const held = new Set<Held>()
const released: { readonly requestId: string; readonly token: string }[] = []
const unexpected = new Map<string, number>()
const done = { consents: 0, fetches: 0, refreshes: 0, executions: 0, revoked: 0, left: 0 }
let latencies: number[] = []
const allLatencies: number[] = []
const samples: Sample[] = []
const begun = performance.now()
const endsAt = begun + minutes * 60_000
const isOver = () => performance.now() >= endsAt

async function timed(asked: Promise<Answer>): Promise<Answer> {
  const since = performance.now()
  const answer = await asked
  latencies.push(performance.now() - since)
  return answer
}

function expectStatus(what: string, { status, body }: Answer, ...expected: readonly number[]): boolean {
  if (expected.includes(status)) return true
  const key = `${what}: ${status} ${body?.name ?? ''}`
  unexpected.set(key, (unexpected.get(key) ?? 0) + 1)
  return false
}

async function client(number: number): Promise<void> {
  for (let turn = 0; !isOver(); turn++) {
    const user = `user-${number}-${turn}`
    const flow = await begin(installation, user)
    const waits = [1, 2].map(() => leavingWaiter(flow.id))
    await flow.browser.submitForm(await flow.browser.get(flow.url))
    await Promise.all(waits)
    if ((await statusOf(installation, flow.id)) !== 'completed') {
      unexpected.set(
        'a consent that did not complete',
        (unexpected.get('a consent that did not complete') ?? 0) + 1,
      )
      continue
    }
    done.consents++
    const one = { id: await connectionOf(installation, user), user }
    held.add(one)
    // begins an authorization that no user finishes
    await begin(installation, `${user}-never`)
    for (let i = 0; i < 60 && !isOver(); i++) {
      const answer = await timed(fetchToken(installation, one.id))
      if (expectStatus('a fetch', answer, 200)) {
        done.fetches++
        released.push({ requestId: answer.requestId, token: answer.body.access_token })
      }
      if (i % 10 === 0) {
        const run = await timed(
          installation.call('POST', '/v1/tools/execute', { tool_name: 'Demo.WhoAmI', user_id: user }),
        )
        if (expectStatus('an execution', run, 200)) done.executions++
        if (run.body.output?.error !== undefined)
          expectStatus(`an execution's error ${run.body.output.error.message}`, { ...run, status: 0 })
      }
      await sleep(20 + Math.random() * 60)
    }
    if (isOver() || turn % 3 === 0) continue // a third of the connections stays, for the checks at the end
    held.delete(one)
    if (expectStatus('a deletion', await installation.call('DELETE', `/v1/connections/${one.id}`), 200))
      done.revoked++
  }
}

/** Waits for an authorization for at most 20 to 420 ms, and then closes its connection. */
async function leavingWaiter(id: string): Promise<void> {
  const leaves = AbortSignal.timeout(Math.round(20 + Math.random() * 400))
  await fetch(`${installation.url}/v1/auth/status?id=${id}&wait=30`, {
    headers: { authorization: `Bearer ${API_KEY}` },
    signal: leaves,
  })
    .then((response) => response.text())
    .catch(() => void done.left++)
}

async function figures(): Promise<(name: string) => number> {
  const text = await (await fetch(`${node.url}/metrics`)).text()
  return (name) => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(text)?.[1] ?? Number.NaN)
}

const TABLES = ['authorizations', 'connections', 'audit_blocks']
async function countRows(): Promise<string> {
  const [counted] = await installation.sql(
    `select ${TABLES.map((table) => `(select count(*) from ${table}) as ${table}`).join(', ')}`,
  )
  return TABLES.map((table) => `${whole(Number(counted?.[table]))} ${table}`).join(', ')
}

/** The size of the heap in bytes, after a garbage collection. */
async function liveHeap(): Promise<number> {
  const { heapUsed, external } = (await node.ask('heap?')) as NodeJS.MemoryUsage // as heap.ts sends it
  return heapUsed + external
}

let heapAfterWarmUp: number | undefined

async function watch(): Promise<void> {
  for (let line = begun + LINE_MS; !isOver(); ) {
    await sleep(SAMPLE_MS)
    if (performance.now() - begun > WARM_UP * minutes * 60_000) heapAfterWarmUp ??= await liveHeap()
    const figure = await figures()
    const rss =
      Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${node.pid}/status`, 'utf8'))?.[1]) * 1024
    samples.push({ at: performance.now(), rss, heap: figure('nodejs_heap_size_used_bytes') })
    if (performance.now() < line) continue
    line += LINE_MS
    const recent = samples.slice(-10)
    console.log(
      [
        `${whole((performance.now() - begun) / 1000).padStart(4)} s`,
        `rss ${mega(rss)}`,
        `heap ${mega(Math.min(...recent.map(({ heap }) => heap)))}`,
        `handles ${figure('nodejs_active_handles_total')}`,
        `sockets and files ${figure('process_open_fds')}`,
        `waiters ${figure('gatepass_waiters')}`,
        `rows ${await countRows()}`,
        `requests ${whole(latencies.length / (LINE_MS / 1000))}/s`,
        `p99 ${latencies.length > 0 ? quantile(latencies, 0.99).toFixed(0) : '-'} ms`,
      ].join(' | '),
    )
    allLatencies.push(...latencies)
    latencies = []
    // so that the load generator's own memory does not grow
    done.refreshes += as.tokenRequests('refresh_token').length
    as.requests.length = 0
    worker.invocations.length = 0
  }
}

const mega = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MB`

await Promise.all([watch(), ...Array.from({ length: Number(values.clients) }, (_, i) => client(i))])

const heapAtEnd = await liveHeap()
done.refreshes += as.tokenRequests('refresh_token').length

// the checks at the end
const lost: string[] = []
for (const { id, user } of held) {
  const answer = await fetchToken(installation, id)
  if (answer.status !== 200 || !as.isLive(answer.body.access_token)) lost.push(`${user}: ${answer.status}`)
}
const trail = await installation.trail()
const unrecorded = released.filter(
  ({ requestId, token }) => !trail.released.get(requestId)?.includes(trail.fingerprint(token)),
)
await sleep(2_000)
const idle = await figures()

const warm = samples.filter(({ at }) => at - begun > WARM_UP * minutes * 60_000)
const third = Math.floor(warm.length / 3)
const growth = {
  rss: median(warm.slice(-third).map(({ rss }) => rss)) / median(warm.slice(0, third).map(({ rss }) => rss)),
  heap: heapAtEnd / (heapAfterWarmUp ?? heapAtEnd),
}

const exitCode = await node.stop()
const percent = (ratio: number) => `${ratio >= 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)} %`
console.log(`
${whole(done.consents)} consents, ${whole(done.fetches)} tokens fetched, ${whole(done.refreshes)} refreshes, ${whole(done.executions)} tools run, ${whole(done.revoked)} connections revoked, ${whole(done.left)} waiters that left
${whole(held.size)} connections held at the end, ${lost.length} of them lost; ${whole(released.length)} tokens answered, ${unrecorded.length} without an audit record
${whole(trail.entries)} audit entries, ${trail.faults.length} broken links; ${as.refreshReuses.length} used refresh tokens sent again; exit code ${exitCode}
unexpected answers: ${[...unexpected].map(([what, count]) => `${what} x ${count}`).join('; ') || 'none'}
resident memory ${percent(growth.rss)} (at most ${percent(MOST_GROWTH.rss)}), medians of the last third over the first, after ${WARM_UP * 100} % of warm-up; heap after a collection ${mega(heapAfterWarmUp ?? 0)} then and ${mega(heapAtEnd)} at the end, ${percent(growth.heap)} (at most ${percent(MOST_GROWTH.heap)})
afterwards: ${idle('gatepass_waiters')} waiters, ${idle('gatepass_refreshes_running')} refreshes, ${idle('nodejs_active_handles_total')} handles, ${idle('process_open_fds')} sockets and files; p99 of all ${whole(allLatencies.length)} requests ${quantile(allLatencies, 0.99).toFixed(0)} ms`)

await worker.close()
await as.close()
const faults = [
  growth.rss > MOST_GROWTH.rss && 'resident memory grows',
  growth.heap > MOST_GROWTH.heap && 'the heap grows',
  lost.length > 0 && `connections were lost: ${lost.slice(0, 5).join(', ')}`,
  unrecorded.length > 0 && 'tokens were released without a record',
  trail.faults.length > 0 && 'the audit chain is broken',
  as.refreshReuses.length > 0 && 'used refresh tokens were sent again',
  unexpected.size > 0 && 'there were unexpected answers',
  idle('gatepass_waiters') > 0 && 'waiters are left',
  exitCode !== 0 && 'the server did not end well',
].filter((fault) => fault !== false)
for (const fault of faults) console.error(`FAILED: ${fault}`)
process.exitCode = faults.length > 0 ? 1 : 0
