import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FakeWorker, startFakeWorker, type WorkerTool } from '../../fake-worker.ts'
import { type DatabaseKind, type Installation, install, KILL_AT, report } from '../../faults/installation.ts'
import type { KillPoint } from '../../faults/kill-at.ts'
import { until } from '../../until.ts'

// Scheduled runs, with several `gatepass serve` on one database: each is run once, by any node with a free slot, and
// none is lost with a node that is killed with SIGKILL. The worker counts the calls of each run.

const SECRET = 'the secret of the worker'
const NODES = { SQLite: 2, PostgreSQL: 3 } as const
const SHARED = 60
/** As many runs of a project as one process takes at once. Every second one calls a tool that may be run twice. */
const RUNS = 4
const LONG_SECONDS = 3600
/** How far the leases of a dead process are moved back. */
const LEASE_SECONDS = 60

const CLAIMED = 'update "executions" set "status"[^]*"attempts" = "executions"."attempts" \\+ 1'
const SETTLED = 'update "executions" set "status"[^]*"duration_ms" ='

/** Sets the clock of a process ahead, because a run's time is sealed and cannot be moved in its row. */
const CLOCK = new URL('../../history/clock-apart.ts', import.meta.url).href

interface Run {
  readonly id: string
  readonly isSafe: boolean
}

export function scheduledRuns(kind: DatabaseKind): void {
  describe(`on ${kind}`, () => {
    let worker: FakeWorker
    let installation: Installation
    /** Tools wait for this promise before they answer. */
    let held: Promise<void> | undefined
    const counts = { kills: 0, runs: 0, repeated: 0, notRepeated: 0 }

    beforeAll(async () => {
      const tool = (name: string, idempotent: boolean): WorkerTool => ({
        name,
        description: 'Does something.',
        behavior: { idempotent },
        async run() {
          await held
          return { value: 'done' }
        },
      })
      worker = await startFakeWorker({ secret: SECRET, tools: [tool('Once', false), tool('Again', true)] })
      installation = await install(kind)
      await Promise.all(Array.from({ length: NODES[kind] }, () => installation.start()))
      const http = { uri: worker.url, secret: SECRET, timeout: 60, retry: 0 }
      const { status, body } = await installation.call('POST', '/v1/workers', { id: 'counts', http })
      expect([status, body.sync_error]).toEqual([201, undefined])
    })

    afterAll(async () => {
      report(`runs that are put off, ${kind}`, {
        runs: counts.runs,
        kills: counts.kills,
        'run again elsewhere': counts.repeated,
        'not run again, and said so': counts.notRepeated,
      })
      await installation?.[Symbol.asyncDispose]()
      await worker?.close()
    })

    /** How far the clocks of the processes are ahead of the true time. */
    let aheadSeconds = 0
    const start = (environment: Readonly<Record<string, string>> = {}) =>
      installation.start({
        nodeArgs: ['--import', CLOCK, '--import', KILL_AT],
        environment: { TEST_CLOCK_AHEAD: String(aheadSeconds), ...environment },
      })
    const stopNodes = () => Promise.all([...installation.nodes].map((node) => node.stop()))
    const invoked = (id: string) => worker.invocations.filter(({ call }) => call.execution_id === id).length

    /** Schedules runs, every second one of a tool that may be run twice. */
    async function schedule(count: number, inSeconds: number): Promise<readonly Run[]> {
      const run_at = new Date(Date.now() + (aheadSeconds + inSeconds) * 1000).toISOString().slice(0, 19)
      const scheduled = Array.from({ length: count }, async (_, i): Promise<Run> => {
        const isSafe = i % 2 === 1
        const tool_name = isSafe ? 'Demo.Again' : 'Demo.Once'
        const { status, body } = await installation.call('POST', '/v1/tools/execute', { tool_name, run_at })
        expect([status, body.success], JSON.stringify(body)).toEqual([200, true])
        return { id: body.execution_id, isSafe }
      })
      counts.runs += count
      return Promise.all(scheduled)
    }

    async function ended(runs: readonly Run[]) {
      const open = async () => {
        const [row] = await installation.sql(
          "select count(*) as open from executions where status in ('scheduled', 'running')",
        )
        return Number(row?.open)
      }
      await until(async () => (await open()) === 0)
      return Promise.all(
        runs.map(async ({ id }) => (await installation.call('GET', `/v1/scheduled_tools/${id}`)).body),
      )
    }

    test(`${SHARED} runs scheduled for the same second are each run once`, async () => {
      const runs = await schedule(SHARED, 3)
      for (const end of await ended(runs))
        expect(end).toMatchObject({ execution_status: 'completed', attempts: [{ success: true }] })
      expect(runs.map(({ id }) => invoked(id))).toEqual(runs.map(() => 1))
    })

    /** Schedules runs, starts one process when they are due, and kills it; then starts another. */
    async function killed(
      kill: KillPoint | 'while its tools run',
      { whenAllRun = false }: { readonly whenAllRun?: boolean } = {},
    ): Promise<readonly Run[]> {
      const runs = await schedule(RUNS, LONG_SECONDS)
      await stopNodes()
      aheadSeconds += LONG_SECONDS + 60
      const tools = Promise.withResolvers<void>()
      if (kill === 'while its tools run') {
        held = tools.promise
        const victim = await start()
        await until(() => runs.every(({ id }) => invoked(id) === 1))
        await victim.kill()
      } else {
        // the first tool to end would kill the process before it has called the other tools
        if (whenAllRun) held = tools.promise
        const started = start({ TEST_KILL_AT: JSON.stringify(kill) }).catch(() => {})
        if (whenAllRun) await until(() => runs.every(({ id }) => invoked(id) === 1))
        tools.resolve()
        held = undefined
        await started
      }
      await until(() => installation.nodes.length === 0)
      counts.kills++
      tools.resolve()
      held = undefined
      await installation.sql(`update executions set lease_until = lease_until - ${LEASE_SECONDS}`)
      await start()
      return runs
    }

    /** Expects that no run is lost, and that only runs of a safe tool are run twice. */
    async function expectKept(runs: readonly Run[]) {
      const ends = await ended(runs)
      for (const [i, { id, isSafe }] of runs.entries()) {
        const end = ends[i]
        const times = invoked(id)
        if (end.execution_status === 'failed') {
          expect([isSafe, times <= 1], id).toEqual([false, true])
          expect(end.attempts).toMatchObject([{ success: false, system_error_message: expect.any(String) }])
          expect(end.attempts[0].system_error_message).toContain('not run again')
          counts.notRepeated++
        } else {
          expect(end).toMatchObject({ execution_status: 'completed', attempts: [{ success: true }] })
          expect(times, id).toBeGreaterThanOrEqual(1)
          expect(times, id).toBeLessThanOrEqual(isSafe ? 2 : 1)
          if (times === 2) counts.repeated++
        }
      }
      return {
        completed: ends.filter(({ execution_status: status }) => status === 'completed').length,
        invoked: runs.map(({ id }) => invoked(id)),
      }
    }

    const each = (unsafe: number, safe: number) =>
      Array.from({ length: RUNS }, (_, i) => (i % 2 ? safe : unsafe))

    describe('a node that is killed', () => {
      test('before it has claimed any run: all runs are run once, by the next node', async () => {
        const runs = await killed({ when: 'before', statement: CLAIMED })
        expect(await expectKept(runs)).toEqual({ completed: RUNS, invoked: each(1, 1) })
      })

      test('after a claim: of the claimed runs only those of a repeatable tool are run, since they may have begun', async () => {
        const runs = await killed({ when: 'after', statement: CLAIMED })
        const { completed, invoked } = await expectKept(runs)
        expect(completed).toBeGreaterThanOrEqual(RUNS / 2)
        expect(Math.max(...invoked)).toBe(1) // a claim alone calls no tool
      })

      test('while its tools run: runs of a repeatable tool are run again, the others fail with that reason', async () => {
        const runs = await killed('while its tools run')
        expect(await expectKept(runs)).toEqual({ completed: RUNS / 2, invoked: each(1, 2) })
      })

      test.each(['before', 'after'] as const)(
        '%s it has stored the end of one run: no run is lost, and only runs of a repeatable tool are run twice',
        async (when) => {
          const runs = await killed({ when, statement: SETTLED }, { whenAllRun: true })
          const { completed, invoked } = await expectKept(runs)
          expect(completed).toBeGreaterThanOrEqual(RUNS / 2)
          expect(Math.min(...invoked)).toBe(1) // every tool had been called before the kill
        },
      )
    })
  })
}
