import { once } from 'node:events'
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { adminOf } from './admin.ts'
import { AUDITED_USERS, appendEntries } from './audit-seed.ts'
import type { Bench } from './bench.ts'
import { probeDisk } from './disk-probe.ts'
import { type Gatepass, programIn } from './gatepass.ts'
import { clearHolds, longestHolds } from './holds.ts'
import { watchOthers } from './machine.ts'
import { API_KEY, userName } from './people.ts'
import { freePort, startNode, startScript, untilHealthy } from './process.ts'
import { type Figure, median, quantile, whole } from './report.ts'
import { environmentFor } from './seed.ts'
import { load, type SoakTimes } from './soak-load.ts'
import { startToolSide } from './tool-side.ts'

const AUDIT_ENTRIES = 200_000
const TOOLS = 10_000
const SLICE_MS = 15_000
/** How long the disk is measured before the load begins. */
const DISK_ALONE_MS = 60_000
/** The first part, in which code is compiled and caches fill. */
const WARM_UP = 0.2
const MOST_FETCH_MS = 150
/** The median of resident memory in the last third over that in the first. */
const MOST_GROWTH = 1.2

interface Sample {
  readonly worst: number
  readonly rss: number
  /** Cores that other programs and other machines on the hardware used. */
  readonly others: number
}

/**
 * Mixed load for a long time at a million connections, while operators do everything that reads or writes much: lists,
 * searches, exports, verifying, registering a large worker again and again, and backups.
 */
export async function soak(bench: Bench): Promise<Figure[]> {
  const { copy, count } = await bench.million()
  const folder = await copy('million-soak')
  await appendEntries(folder, AUDIT_ENTRIES)
  const holds = join(folder, 'holds')
  clearHolds(holds)
  const alone = probeDisk(join(folder, 'probe'))
  await sleep(DISK_ALONE_MS)
  const before = await alone.stop()
  await using tools = await startToolSide(folder, { answerMs: 2, holds })
  clearHolds(holds)
  const { gatepass } = tools
  const until = performance.now() + bench.minutes * 60_000
  const isOver = () => performance.now() >= until
  const samples: Sample[] = []
  const all: SoakTimes[] = []
  const callers = async () => {
    while (!isOver()) {
      const othersSince = watchOthers()
      const job = { port: gatepass.port, users: count, ms: SLICE_MS }
      const times = await bench.load.run({ module: new URL('soak-load.ts', import.meta.url).href, load }, job)
      const sample = { worst: Math.max(...times.fetches), rss: gatepass.rssBytes(), others: othersSince() }
      all.push(times)
      samples.push(sample)
      const seconds = samples.length * (SLICE_MS / 1000)
      console.error(
        `soak, ${seconds} s: worst fetch ${whole(sample.worst)} ms, ${whole(sample.rss / 2 ** 20)} MB`,
      )
    }
  }
  const beside = probeDisk(join(folder, 'probe'))
  const [done] = await Promise.all([operators(gatepass, folder, isOver), callers()])
  const disk = { before, meanwhile: await beside.stop() }
  return figuresOf(samples, all, done, { count, held: longestHolds(holds), disk })
}

function figuresOf(
  samples: readonly Sample[],
  all: readonly SoakTimes[],
  done: Readonly<Record<string, number[]>>,
  {
    count,
    held,
    disk,
  }: {
    readonly count: number
    readonly held: ReturnType<typeof longestHolds>
    readonly disk: { readonly before: readonly number[]; readonly meanwhile: readonly number[] }
  },
): Figure[] {
  const settled = samples.slice(Math.floor(samples.length * WARM_UP))
  const third = Math.ceil(settled.length / 3)
  const memory = (part: readonly Sample[]) => median(part.map(({ rss }) => rss)) / 2 ** 20
  const [first, last] = [memory(settled.slice(0, third)), memory(settled.slice(-third))]
  const fetches = all.slice(-settled.length).flatMap(({ fetches }) => fetches)
  const worst = fetches.reduce((most, ms) => Math.max(most, ms), 0)
  const wrong = all.flatMap((one) => one.wrong)
  const minutes = ((samples.length * SLICE_MS) / 60_000).toFixed(1)
  return [
    {
      name: `soak of ${minutes} minutes, ${whole(count)} connections: slowest of ${whole(fetches.length)} fetches after the warm-up`,
      value: `${whole(worst)} ms; p50 ${quantile(fetches, 0.5).toFixed(1)}, p99 ${whole(quantile(fetches, 0.99))}, p99.9 ${whole(quantile(fetches, 0.999))} ms`,
      target: `< ${MOST_FETCH_MS} ms`,
      met: worst < MOST_FETCH_MS,
    },
    { name: '  4 kB flushed to this disk by a bare program, before the load', value: waits(disk.before) },
    { name: '  the same meanwhile', value: waits(disk.meanwhile) },
    {
      name: '  processor time of the event loop at a stretch, at most',
      value: `${whole(held.all)} ms; ${whole(held.withoutCollections)} ms without collections of garbage`,
    },
    {
      name: '  resident memory, median of the first and last third after the warm-up',
      value: `${whole(first)} MB, ${whole(last)} MB`,
      target: `growth <= ${MOST_GROWTH}`,
      met: last / first <= MOST_GROWTH,
    },
    {
      name: '  requests that were not answered as they must be',
      value: wrong.length === 0 ? 'none' : wrong.join('; '),
      target: 'none',
      met: wrong.length === 0,
    },
    ...Object.entries(done).map(([name, seconds]) => ({
      name: `  beside it: ${name}`,
      value:
        seconds.length === 0
          ? 'never'
          : `${whole(seconds.length)} times, median ${median(seconds).toFixed(2)} s, slowest ${Math.max(...seconds).toFixed(1)} s`,
      target: 'at least once',
      met: seconds.length > 0,
    })),
    {
      name: '  cores that other programs used meanwhile, in the median',
      value: median(samples.map(({ others }) => others)).toFixed(2),
    },
  ]
}

function waits(ms: readonly number[]): string {
  const [p99, most] = [quantile(ms, 0.99), quantile(ms, 1)]
  return `p50 ${quantile(ms, 0.5).toFixed(1)}, p99 ${whole(p99)}, slowest ${whole(most)} ms`
}

/** Runs every job again and again with a pause; returns the seconds that each took. A job that fails ends the soak. */
async function operators(gatepass: Gatepass, folder: string, isOver: () => boolean) {
  const admin = adminOf(gatepass.port)
  const environment = { ...environmentFor(folder, gatepass.port), GATEPASS_LOG_LEVEL: 'error' }
  const program = await programIn()
  const log = openSync(join(folder, 'operators.log'), 'a')
  const command = async (...args: string[]) => {
    const { child } = startNode([program, ...args], { env: environment, stdio: ['ignore', log, log] })
    const [code] = await once(child, 'exit')
    if (code !== 0)
      throw new Error(
        `gatepass ${args.join(' ')} ended with ${code}: ${readFileSync(join(folder, 'operators.log'), 'utf8').slice(-2_000)}`,
      )
  }
  const toolPort = await freePort()
  await using many = startScript('tool-server.ts', [String(toolPort), '0', String(TOOLS)])
  await untilHealthy(toolPort, many)
  const http = { uri: `http://127.0.0.1:${toolPort}`, secret: 'bench-worker-secret', timeout: 60, retry: 0 }
  let cursor = ''
  /** Removed at the end: the removal of a file of gigabytes would be another load on the disk. */
  const files: string[] = []
  const jobs: Record<string, { readonly pauseMs: number; run(turn: number): Promise<unknown> }> = {
    'a page of connections, by cursors through all': {
      pauseMs: 100,
      async run() {
        const page = (await admin('GET', `/v1/connections?limit=100${cursor}`)) as { next_cursor?: string }
        cursor = page.next_cursor === undefined ? '' : `&cursor=${encodeURIComponent(page.next_cursor)}`
      },
    },
    'an audit search': {
      pauseMs: 200,
      run: (turn) =>
        admin(
          'GET',
          turn % 2 === 0
            ? `/v1/admin/audit?user_id=${encodeURIComponent(userName(turn % AUDITED_USERS))}&limit=100`
            : '/v1/admin/audit?action=connection.refreshed&limit=100',
        ),
    },
    'a page and a search of 10,000 tools': {
      pauseMs: 500,
      run: (turn) => admin('GET', `/v1/tools?limit=100${turn % 2 === 0 ? '' : '&q=tool77'}`),
    },
    'an export of the audit trail': {
      pauseMs: 10_000,
      async run() {
        const headers = { authorization: `Bearer ${API_KEY}` }
        const answer = await fetch(`http://127.0.0.1:${gatepass.port}/v1/admin/audit/export`, { headers })
        let bytes = 0
        for await (const chunk of answer.body ?? []) bytes += chunk.length
        if (answer.status !== 200 || bytes < AUDIT_ENTRIES * 100)
          throw new Error(`an export of ${bytes} bytes`)
      },
    },
    'audit verify': { pauseMs: 20_000, run: () => command('audit', 'verify', '--all') },
    'a worker with 10,000 tools, registered': {
      pauseMs: 30_000,
      async run(turn) {
        if (turn > 0) await admin('DELETE', '/v1/workers/large')
        await admin('POST', '/v1/workers', { id: 'large', http })
      },
    },
    'a backup': {
      pauseMs: 60_000,
      async run() {
        const file = join(folder, `backup-${files.length}.db`)
        await command('backup', '--to', file)
        files.push(file)
      },
    },
  }
  const done: Record<string, number[]> = {}
  await Promise.all(
    Object.entries(jobs).map(async ([name, { pauseMs, run }]) => {
      const seconds: number[] = []
      done[name] = seconds
      for (let turn = 0; !isOver(); turn++) {
        const begun = performance.now()
        await run(turn)
        seconds.push((performance.now() - begun) / 1000)
        await sleep(pauseMs)
      }
    }),
  )
  closeSync(log)
  for (const file of files) rmSync(file)
  return done
}
