import { once } from 'node:events'
import type { Bench } from './bench.ts'
import { disturbance } from './compared.ts'
import { programIn, startGatepass } from './gatepass.ts'
import { watchOthers } from './machine.ts'
import { userName } from './people.ts'
import { startNode } from './process.ts'
import { type Figure, median, spread, whole } from './report.ts'
import { repeat } from './rounds.ts'
import { environmentFor } from './seed.ts'
import { timed } from './timed.ts'

const MOST_SEARCH_MS = 20
const MOST_VERIFY_SECONDS = 2
/** Four times the entries may take this many times as long. */
const MOST_GROWTH = 5
const ROUNDS = 3

/** Searches of a long audit trail. */
export async function auditSearch(bench: Bench): Promise<Figure[]> {
  const { full, count, seconds, connectionId } = await bench.audited()
  await using gatepass = await startGatepass(full)
  const figures: Figure[] = [{ name: `${whole(count)} audit entries appended`, value: `${whole(seconds)} s` }]
  const searches = {
    'by user, limit=1': `user_id=${encodeURIComponent(userName(4_711))}&limit=1`,
    'by user, limit=100': `user_id=${encodeURIComponent(userName(4_711))}&limit=100`,
    'by action, limit=1': 'action=connection.refreshed&limit=1',
    'by action, limit=100': 'action=connection.refreshed&limit=100',
    'by user and action that never met': `user_id=${encodeURIComponent(userName(1))}&action=connection.deleted&limit=1`,
    'by connection, limit=100': `connection_id=${connectionId}&limit=100`,
  }
  for (const [name, query] of Object.entries(searches))
    figures.push(
      ...(await timed(bench.load, gatepass, {
        name: `audit search ${name}, ${whole(count)} entries`,
        paths: [`/v1/admin/audit?${query}`],
        expects: '"items"',
        atMost: MOST_SEARCH_MS,
      })),
    )
  return figures
}

/** `gatepass audit verify` of a long trail, and of a quarter of it. */
export async function auditVerify(bench: Bench): Promise<Figure[]> {
  const { full, quarter, count } = await bench.audited()
  await verify(quarter)
  const repeated = await repeat(
    ROUNDS,
    async () => ({ quarter: await verify(quarter), full: await verify(full) }),
    (one) => Math.max(one.quarter.others, one.full.others),
  )
  const { values, isQuiet } = repeated
  const seconds = median(values.map((one) => one.full.seconds))
  const cpu = median(values.map((one) => one.full.cpuSeconds))
  const growth = values.map((one) => one.full.cpuSeconds / one.quarter.cpuSeconds)
  return [
    {
      name: `audit verify, ${whole(count)} entries`,
      value: spread(
        values.map((one) => one.full.seconds),
        (value) => `${value.toFixed(1)} s`,
      ),
      target: `<= ${MOST_VERIFY_SECONDS} s`,
      met: seconds <= MOST_VERIFY_SECONDS,
      disturbed: !isQuiet,
    },
    { name: '  processor time', value: `${cpu.toFixed(1)} s` },
    {
      name: '  growth of the processor time from a quarter of the entries',
      value: spread(growth, (value) => `${value.toFixed(1)} x`),
      target: `at most ${MOST_GROWTH} x`,
      met: median(growth) <= MOST_GROWTH,
      disturbed: !isQuiet,
    },
    ...disturbance(repeated),
  ]
}

async function verify(folder: string) {
  const othersSince = watchOthers()
  const begun = performance.now()
  await using started = startNode([await programIn(), 'audit', 'verify'], {
    env: environmentFor(folder, 8400),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let cpuMs = 0
  const watch = setInterval(() => {
    cpuMs = started.cpuMs() || cpuMs
  }, 20)
  const [code] = await once(started.child, 'exit')
  clearInterval(watch)
  if (code !== 0) throw new Error(`audit verify ended with exit code ${code}`)
  return { seconds: (performance.now() - begun) / 1000, cpuSeconds: cpuMs / 1000, others: othersSince() }
}
