// `npm run bench`: every figure of docs/evidence/performance.md in one run. `npm run bench -- fetch storm` measures only those;
// `--against <commit>` also measures the fetch and the runs of that commit.

import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { arch, cpus, loadavg, platform, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Audited, seedAudit } from './audit-seed.ts'
import type { Bench } from './bench.ts'
import { FIGURES, FURTHER_FIGURES } from './figures.ts'
import { startLoadProcess } from './load-process.ts'
import { watchOthers } from './machine.ts'
import { type Million, seedMillion } from './million.ts'
import { againstRelease } from './other-release.ts'
import { USERS } from './people.ts'
import { type Figure, table, verdict, whole } from './report.ts'
import { QUIET_CORES } from './rounds.ts'
import { seed, seedOwn } from './seed.ts'
import { startUpstream } from './upstream.ts'

/** The exit code when no target is missed, but other programs disturbed some figures; a miss is 1. */
const DISTURBED = 3

/** A figure that cannot be measured counts as missed; the others are still measured. */
const failed = (name: string) => (error: unknown) => {
  console.error(error)
  return [{ name, value: 'could not be measured', target: 'a figure', met: false, disturbed: false }]
}

const { positionals: wanted, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    against: { type: 'string' },
    quick: { type: 'boolean' },
    connections: { type: 'string', default: '1000000' },
    minutes: { type: 'string', default: '30' },
    'audit-entries': { type: 'string', default: '1000000' },
  },
})
const known = { ...FIGURES, ...FURTHER_FIGURES }
const unknown = wanted.filter((name) => !(name in known))
if (unknown.length > 0) {
  console.error(`There is no figure ${unknown.join(', ')}; there are ${Object.keys(known).join(', ')}.`)
  process.exit(2)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const folder = await mkdtemp(join(tmpdir(), 'gatepass-bench-'))
const inMemory = await mkdtemp('/dev/shm/gatepass-bench-') // Linux keeps it in memory
process.on('exit', () => {
  for (const one of [folder, inMemory]) rmSync(one, { recursive: true, force: true, maxRetries: 3 })
})
const figures: Figure[] = []
const begun = performance.now()
{
  await using upstream = await startUpstream()
  await using load = startLoadProcess()
  const seeded = await seed(folder, upstream.port)
  console.log(`$ ${['npm run bench', ...(process.argv.length > 2 ? ['--'] : []), ...process.argv.slice(2)].join(' ')}
${cpus()[0]?.model} x ${cpus().length}, ${whole(totalmem() / 2 ** 30)} GB, ${platform()} ${release()} ${arch()}, Node ${process.versions.node}
${new Date().toISOString()}, load average ${loadavg()[0]?.toFixed(1)}; ${whole(USERS)} connections of ${whole(seeded.rowBytes)} bytes in SQLite under ${tmpdir()}
`)
  let seededInMemory: Promise<string> | undefined
  let million: Promise<Million> | undefined
  let audited: Promise<Audited> | undefined
  const bench: Bench = {
    folder,
    seeded,
    load,
    upstream,
    inMemory: () => (seededInMemory ??= seedOwn({ folder: inMemory, upstream }, 'database')),
    minutes: Number(options.minutes),
    million: () => (million ??= seedMillion(folder, upstream.port, Number(options.connections))),
    audited: () => (audited ??= seedAudit(bench, Number(options['audit-entries']))),
  }
  const measure = async (name: string, figure: () => Promise<Figure[]>) => {
    const started = performance.now()
    const othersSince = watchOthers()
    const all = await figure().catch(failed(name))
    const isDisturbed = othersSince() > QUIET_CORES
    const measured = all.map((one) => ({ disturbed: isDisturbed, ...one }))
    figures.push(...measured)
    // each goes to standard error when it is measured, all in one table to standard output at the end
    console.error(`${name}, ${whole((performance.now() - started) / 1000)} s\n${table(measured)}\n`)
  }
  for (const [name, figure] of Object.entries(wanted.length === 0 ? FIGURES : known))
    if (wanted.length === 0 || wanted.includes(name)) await measure(name, () => figure(bench))
  const { against } = options
  if (against !== undefined) await measure(`against ${against}`, () => againstRelease(against, bench))
}
console.log(table(figures))
console.log(
  `\n${whole((performance.now() - begun) / 1000)} s in all; values are medians (least-most) of rounds.`,
)

const judged = (as: ReturnType<typeof verdict>) => figures.filter((one) => verdict(one) === as)
const [missed, disturbed] = [judged('NO'), judged('DISTURBED')]
for (const { name, value, target } of missed) console.error(`MISSED: ${name} is ${value}, must be ${target}`)
for (const { name } of disturbed)
  console.error(`DISTURBED: ${name} is neither met nor missed, because other programs used the processor`)
if (missed.length > 0) process.exitCode = 1
else if (disturbed.length > 0) process.exitCode = DISTURBED
