import { setTimeout as sleep } from 'node:timers/promises'
import { isStopped } from '../faults/installation.ts'
import type { KillPoint } from '../faults/kill-at.ts'
import { until } from '../until.ts'
import type { Choices } from './choices.ts'
import type { Fault } from './history.ts'
import type { Replicated } from './replicated.ts'
import type { World } from './world.ts'

// Faults of the processes, of their database and of the provider's answers, while the clients go on. The processes have
// one fault at a time; the provider's faults come independently of these.

/**
 * The points of a refresh at which a process is stopped. `lapses`: its lease is moved back meanwhile, so that another
 * process takes over. After it has last read the lease, a process goes by its own clock, which a test cannot move;
 * `test/faults/stand-still.ts` stops it there until the lease has expired by that clock.
 */
const POINTS: readonly { readonly what: string; readonly point: KillPoint; readonly lapses: boolean }[] = [
  {
    what: 'before it takes the lease',
    point: { when: 'before', statement: 'update "connections" set "lease_owner"' },
    lapses: false,
  },
  {
    what: 'after it has taken the lease',
    point: { when: 'after', statement: 'update "connections" set "lease_owner"' },
    lapses: true,
  },
  {
    what: 'after it has last read the lease',
    point: { when: 'after', statement: '^select [^]*"lease_until"[^]*where[^]*"lease_owner" =' },
    lapses: false,
  },
  {
    what: 'before the answer is stored',
    point: { when: 'before', statement: 'update "connections" set [^]*"access" =' },
    lapses: false,
  },
  {
    what: 'after the answer is stored',
    point: { when: 'after', statement: 'update "connections" set [^]*"access" =' },
    lapses: false,
  },
]
const NEVER: KillPoint = { when: 'before', statement: '(?!)' }
const UNTIL_REACHED_MS = 1_000
/** By how much leases and claims are moved back, so that no test waits until they expire. */
const LAPSED_SECONDS = 60

export interface FaultParts {
  readonly world: World
  readonly choices: Choices
  /** Absent where other tests use the same server. */
  readonly server?: Replicated
  /** Whether the server may fail over to a standby that has not received everything. */
  readonly mayLose?: boolean
  /** Milliseconds since the world began. */
  readonly until: number
}

export async function doFaults(parts: FaultParts): Promise<void> {
  await Promise.all([faultsOfProcesses(parts), faultsOfProvider(parts)])
}

async function faultsOfProcesses({
  world,
  choices: given,
  server,
  mayLose = false,
  until: end,
}: FaultParts): Promise<void> {
  const choices = given.branch('processes')
  const kinds = [kill, stop, stopWithinRefresh, stopWithinRefresh]
  if (world.kind === 'PostgreSQL') kinds.push(cut, stall, delay)
  if (world.kind === 'SQLite') kinds.push(setClock)
  if (server !== undefined) {
    kinds.push(
      () => recorded(world, { kind: 'restart database' }, () => restart(server)),
      () => failOver(world, choices, server, mayLose),
      () => leadToStandby(world, choices, server),
    )
  }
  if (server !== undefined) await failOver(world, choices, server, mayLose) // at least once
  while (world.now() < end) {
    await sleep(choices.between(50, 300))
    await choices.of(kinds)(world, choices)
  }
}

async function faultsOfProvider({ world, choices: given, until: end }: FaultParts): Promise<void> {
  const choices = given.branch('provider')
  const { holdMs, as } = world
  while (world.now() < end) {
    await sleep(choices.between(200, 1_500))
    const kind = choices.of(['answer held', 'answer held', 'answer lost'] as const)
    const ms = choices.between(100, 1_200)
    await recorded(world, { kind, what: `for ${ms} ms` }, async () => {
      if (kind === 'answer lost') as.behaviour.refresh = 'drop'
      else holdMs[choices.chance(0.5) ? 'arrived' : 'carriedOut'] = ms
      await sleep(kind === 'answer lost' ? Math.min(ms, 300) : ms)
      as.behaviour.refresh = 'rotate-strict'
      holdMs.arrived = 0
      holdMs.carriedOut = 0
    })
  }
}

async function recorded(
  world: World,
  fault: Omit<Fault, 'begun' | 'ended'>,
  run: () => Promise<unknown>,
): Promise<void> {
  const begun = world.now()
  await run()
  world.faults.push({ ...fault, begun, ended: world.now() })
}

async function kill(world: World, choices: Choices): Promise<void> {
  const slot = choices.between(0, world.slots.length - 1)
  const pauseMs = choices.between(0, 800)
  await recorded(world, { kind: 'kill', node: slot }, async () => {
    await world.slots[slot]?.node.kill()
    await sleep(pauseMs)
    await world.restart(slot)
  })
}

/** Stops a process for a shorter or a longer time than others wait until they take it for dead. */
async function stop(world: World, choices: Choices): Promise<void> {
  const slot = choices.between(0, world.slots.length - 1)
  const ms = choices.of([300, 1_000, 4_500])
  const node = world.slots[slot]?.node
  if (node === undefined || !node.isRunning) return
  await recorded(world, { kind: 'stop', node: slot, what: `for ${ms} ms` }, async () => {
    const readmit = world.installation.withdraw(node)
    process.kill(node.pid, 'SIGSTOP')
    await sleep(ms)
    process.kill(node.pid, 'SIGCONT')
    readmit()
  })
}

/** Stops a process at a point of a refresh, until another process has had the time to take the refresh over. */
async function stopWithinRefresh(world: World, choices: Choices): Promise<void> {
  const slot = choices.between(0, world.slots.length - 1)
  const { what, point, lapses } = choices.of(POINTS)
  // sometimes longer than a lease may be held before the request is sent; but shorter where the process holds the write
  // lock of SQLite, because then no other process can write
  const ms = lapses ? choices.of([500, 1_500, 3_000]) : choices.between(200, 1_000)
  const node = world.slots[slot]?.node
  if (node === undefined || !node.isRunning) return
  await withTimeout(node.ask({ ...point, signal: 'SIGSTOP' }))
  const reached = await until(() => isStopped(node), UNTIL_REACHED_MS).then(
    () => true,
    () => false,
  )
  if (!reached) {
    await withTimeout(node.ask(NEVER))
    if (!(await isStopped(node))) return
  }
  const at = node.log().lastIndexOf('stopped at ')
  const connection = /conn_\w+/.exec(node.log().slice(at))?.[0]
  const fault = { kind: 'stop', node: slot, what, ...(connection !== undefined && { connection }) } as const
  await recorded(world, fault, async () => {
    const readmit = world.installation.withdraw(node)
    if (lapses && connection !== undefined)
      await world.installation
        .sql(
          `update connections set lease_until = lease_until - ${LAPSED_SECONDS} where id = '${connection}'`,
        )
        .catch(() => {})
    // makes another process take the refresh over while this one is stopped, in case no client does
    if (lapses && connection !== undefined)
      await world.ask((slot + 1) % world.slots.length, 'POST', `/v1/connections/${connection}/token`)
    await sleep(ms)
    process.kill(node.pid, 'SIGCONT')
    readmit()
  })
}

async function withTimeout(answer: Promise<unknown>): Promise<void> {
  await Promise.race([answer.catch(() => {}), sleep(1_000)])
}

async function cut(world: World, choices: Choices): Promise<void> {
  const slot = choices.between(0, world.slots.length - 1)
  await recorded(world, { kind: 'link', node: slot, what: 'cut' }, async () => world.slots[slot]?.link?.cut())
}

async function stall(world: World, choices: Choices): Promise<void> {
  await faultyLink(world, choices, 'stalled', choices.of([500, 2_000, 4_500]), (link) => link.stall())
}

async function delay(world: World, choices: Choices): Promise<void> {
  const delayMs = choices.of([20, 100, 400])
  await faultyLink(world, choices, `delayed by ${delayMs} ms`, choices.between(500, 2_500), (link) =>
    link.delay(delayMs),
  )
}

async function faultyLink(
  world: World,
  choices: Choices,
  what: string,
  ms: number,
  harm: (link: NonNullable<World['slots'][number]['link']>) => void,
): Promise<void> {
  const slot = choices.between(0, world.slots.length - 1)
  const link = world.slots[slot]?.link
  if (link === undefined) return
  await recorded(world, { kind: 'link', node: slot, what }, async () => {
    harm(link)
    await sleep(ms)
    link.restore()
  })
}

/** The start recovers from the write-ahead log. */
async function restart({ primary }: Replicated): Promise<void> {
  await primary.stopAtOnce()
  await primary.start()
}

async function failOver(world: World, choices: Choices, server: Replicated, mayLose: boolean): Promise<void> {
  const stalledMs = choices.of([0, 50, 400, 1_500])
  const what = `stalled for ${stalledMs} ms`
  const stalled = stalledMs > 0 ? () => sleep(stalledMs) : undefined
  await recordFailover(world, server, mayLose ? 'asynchronous' : 'synchronous', { what, stalled })
}

/** What is answered from the time on from which an asynchronous standby has not received everything may be lost. */
export async function recordFailover(
  world: World,
  server: Replicated,
  how: 'synchronous' | 'asynchronous',
  { what, stalled }: { readonly what: string; readonly stalled?: (() => Promise<unknown>) | undefined },
): Promise<void> {
  let begun = world.now()
  await server.failOver(how, {
    begun() {
      begun = world.now()
    },
    ...(stalled && { stalled }),
  })
  const kind = how === 'asynchronous' ? 'lossy failover' : 'failover'
  world.faults.push({ kind, what, begun, ended: world.now() })
}

async function leadToStandby(world: World, choices: Choices, server: Replicated): Promise<void> {
  await recorded(world, { kind: 'address at a standby' }, () =>
    server.leadToStandby(choices.of([500, 2_500])),
  )
}

/** Sets the clock of the machine, forth or back. */
async function setClock(world: World, choices: Choices): Promise<void> {
  const seconds = choices.of([-180, -40, -20, 0, 20, 40, 180])
  await recorded(world, { kind: 'clock', what: `${seconds} s ahead` }, () => world.setClock(seconds))
}
