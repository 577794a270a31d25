import type { Bench } from './bench.ts'
import { disturbance } from './compared.ts'
import { startGatepass } from './gatepass.ts'
import { watchOthers } from './machine.ts'
import { type Figure, median, spread, whole } from './report.ts'
import { repeat } from './rounds.ts'

const ROUNDS = 5
const MOST_MS = 600

/** The start of a server with many connections. */
export async function startOfMillion(bench: Bench): Promise<Figure[]> {
  const { copy, count } = await bench.million()
  const folder = await copy('million-start')
  const repeated = await repeat(
    ROUNDS,
    async () => {
      const othersSince = watchOthers()
      await using gatepass = await startGatepass(folder)
      return { ms: gatepass.startedInMs, cpuMs: gatepass.cpuMs(), others: othersSince() }
    },
    ({ others }) => others,
  )
  const { values, isQuiet } = repeated
  const took = median(values.map(({ ms }) => ms))
  const cpu = median(values.map(({ cpuMs }) => cpuMs))
  return [
    {
      name: `start with ${whole(count)} connections, until /health answers`,
      value: spread(
        values.map(({ ms }) => ms),
        (value) => `${whole(value)} ms`,
      ),
      target: `<= ${MOST_MS} ms`,
      met: took <= MOST_MS,
      disturbed: !isQuiet,
    },
    { name: '  processor time of it', value: `${whole(cpu)} ms` },
    ...disturbance(repeated),
  ]
}
