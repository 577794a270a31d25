import { readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { SteadyClock } from '../../src/domain/clock.ts'
import { machineClock } from '../../src/services/steady-clock.ts'
import { openSqliteStore } from '../../src/store/dialects/sqlite/open.ts'
import { gate } from '../gate.ts'
import { startGatepass } from '../gatepass.ts'
import { authorize, type Scene, startScene } from './fixtures.ts'
import { asked, connection, LIFE, row } from './refresh-fixtures.ts'

// Processes on one SQLite file: leases go by the machine's monotonic clock.

interface Machine extends SteadyClock {
  pass(seconds: number): void
}

function machine(bootId = 'boot 1', startedAt = 1_000_000_000): Machine {
  let passed = 5_000
  return {
    bootId,
    startedAt,
    milliseconds: () => passed,
    pass(seconds) {
      passed += seconds * 1000
    },
  }
}

/** A refresh whose request is at the provider, which answers after `open`. */
async function refreshing(scene: Scene) {
  await scene.connect()
  scene.clock.advance(LIFE)
  const { opened, open } = gate()
  scene.as.behaviour.onRefresh = (moment) => (moment === 'carried out' ? opened : undefined)
  const holder = scene.authorize()
  await expect.poll(() => asked(scene)).toBe(1)
  return { holder, open }
}

test('a clock that is put forward during a refresh ends no lease: the used refresh token is not sent again', async () => {
  const steadyClock = machine()
  await using scene = await startScene({ as: { refresh: 'rotate-strict' }, gatepass: { steadyClock } })
  const { databasePath } = scene.gatepass
  await using other = await startGatepass({ now: scene.clock, databasePath, steadyClock })
  const { holder, open } = await refreshing(scene)
  scene.clock.advance(60)
  const waiting = authorize(other)
  steadyClock.pass(5)
  // the other process has read the row by now, and waits
  await expect.poll(() => other.broker.refreshes.running.size).toBe(1)
  await other.broker.store.connections.find((await connection(scene)).id)
  open()
  const fresh = (await holder).body.context.token
  await waiting
  expect(asked(scene)).toBe(1)
  expect(scene.as.isLive(fresh)).toBe(true)
  expect(scene.as.familyRevoked).toBe(false)
})

test('a lease of a process that died lapses by the clock of the machine, though the time of day was set back', async () => {
  const steadyClock = machine()
  await using scene = await startScene({ as: { refresh: 'rotate-grace' }, gatepass: { steadyClock } })
  const { databasePath } = scene.gatepass
  await using other = await startGatepass({ now: scene.clock, databasePath, steadyClock })
  const { holder, open } = await refreshing(scene)
  const { id, generation } = await row(scene)
  const claim = (owner: string) =>
    other.broker.store.connections.claimRefresh(id, generation, { owner, seconds: 25 }, scene.clock())
  steadyClock.pass(24)
  expect(await claim('early')).toBeUndefined()
  scene.clock.advance(-3_600)
  steadyClock.pass(1)
  expect(await claim('heir')).toBeDefined()
  open()
  await holder
})

test.each([
  ['set back by a year', -31_536_000],
  ['set forward by a year', 31_536_000],
])('a machine that starts again, its time %s, frees the leases of before', async (_, seconds) => {
  const steadyClock = machine()
  await using scene = await startScene({ gatepass: { steadyClock } })
  const { holder, open } = await refreshing(scene)
  const { id, generation } = await row(scene)
  const next = machine('boot 2', steadyClock.startedAt + 60_000 + seconds * 1000)
  const store = openSqliteStore(scene.gatepass.databasePath, { steadyClock: next })
  const claimed = await store.connections.claimRefresh(id, generation, { owner: 'x', seconds: 25 }, 0)
  expect(claimed).toBeDefined()
  await store.close()
  open()
  await holder
})

test('runs and heartbeats go by it too, and a machine that starts again frees them', async () => {
  const steadyClock = machine()
  await using scene = await startScene({ gatepass: { steadyClock } })
  const { databasePath } = scene.gatepass
  const { processes } = scene.gatepass.broker.store
  await processes.enter('one')
  steadyClock.pass(2)
  expect(await processes.isAlive('one', 3_000)).toBe(true)
  expect(await processes.beat('one')).toBe(2_000)
  steadyClock.pass(4)
  expect(await processes.isAlive('one', 3_000)).toBe(false)

  await processes.enter('two')
  const client = new Database(databasePath)
  client.exec(
    `insert into audit_progress (project_id, indexed_from, indexed_to, lease_owner, lease_until)
     select id, 0, 0, 'dead', 9999999999 from projects limit 1 on conflict do update set lease_owner = 'dead', lease_until = 9999999999`,
  )
  const next = openSqliteStore(databasePath, { steadyClock: machine('boot 2') })
  expect(await next.processes.isAlive('two', 3_000)).toBe(false)
  expect(client.prepare('select lease_until from audit_progress').pluck().all()).toContain(0)
  client.close()
  await next.close()
})

test('a server with its keys counts by it, so that it is not forgotten when the time of day is set', async () => {
  const steadyClock = machine()
  await using gatepass = await startGatepass({ steadyClock })
  const { servers } = gatepass.broker.store
  const names = async () => (await servers.live(40_000)).map(({ name }) => name)
  await servers.beat({ id: 'killed', name: 'killed', keyIds: ['aaaaaaaa'] })
  steadyClock.pass(39)
  expect(await names()).toContain('killed')
  steadyClock.pass(2)
  expect(await names()).not.toContain('killed')
})

test('processes of one start of the machine have the same lease clock, by its boot id and its monotonic clock', async () => {
  const clock = machineClock()
  expect(clock?.bootId).toBe(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  expect(machineClock('/nowhere')).toBeUndefined()
  await using gatepass = await startGatepass()
  const facts = () => gatepass.broker.store.facts.find('lease_clock')
  const first = await facts()
  expect(first).toMatch(new RegExp(`^${clock?.bootId} \\d+$`))
  await using _ = await startGatepass({ databasePath: gatepass.databasePath })
  expect(await facts()).toBe(first)
})
