import { readdir } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import {
  type ArchiveWorld,
  DATABASES,
  entriesOf,
  NEWER,
  OLD,
  startArchiveWorld,
} from '../audit-archive-world.ts'
import { type Installation, install } from '../cli/gatepass.ts'
import { MASTER_KEY } from '../served.ts'
import { KILL_AT } from './installation.ts'
import type { KillPoint } from './kill-at.ts'

// `gatepass audit archive` is killed with SIGKILL at named points, and run again.

const ENTRIES = 3_000

/** Every line that is in an archive or in the trail, each once. */
async function all(world: ArchiveWorld): Promise<readonly string[]> {
  const files = await Promise.all((await world.files()).map(entriesOf))
  return [...new Set([...files.flat(), ...(await world.exported())])]
}

function runKilled(program: Installation, world: ArchiveWorld, point: KillPoint) {
  const env = {
    GATEPASS_DATABASE_URL: world.database,
    GATEPASS_MASTER_KEY: MASTER_KEY,
    NODE_OPTIONS: `--import ${KILL_AT}`,
    TEST_KILL_AT: JSON.stringify(point),
  }
  const to = ['--before', '2026-02-01', '--to', world.folder] as const
  return program.runWith({ env }, 'audit', 'archive', ...to)
}

const POINTS: readonly [string, KillPoint, { readonly files: number; readonly anchors: number }][] = [
  [
    'while it reads and writes',
    { when: 'after', statement: 'coalesce\\(\\(select max', skip: 3 },
    { files: 0, anchors: 0 },
  ],
  [
    'when the file has its final name, before the anchor is written',
    { when: 'before', statement: 'insert into "audit_anchors"' },
    { files: 1, anchors: 0 },
  ],
  [
    'when the anchor is written',
    { when: 'after', statement: 'insert into "audit_anchors"' },
    { files: 1, anchors: 1 },
  ],
  [
    'while it removes blocks',
    { when: 'after', statement: 'delete from "audit_blocks"', skip: 2 },
    { files: 1, anchors: 1 },
  ],
]

describe.each(DATABASES)('archiving on %s', (kind) => {
  // the next run begins where the one before was killed, and gets further
  test('killed at each of its steps in turn, loses no entry, and finishes when it is run again', async () => {
    await using program = await install()
    await using world = await startArchiveWorld(kind)
    await world.sql('delete from audit_blocks')
    if (kind === 'postgres') await world.sql('delete from audit_heads')
    await world.fill(OLD, ENTRIES)
    await world.fill(NEWER, 6)
    const before = await world.exported()

    for (const [when, point, left] of POINTS) {
      const killed = await runKilled(program, world, point)
      expect(killed, when).toMatchObject({ code: -1, stdout: '' })
      expect(await world.files(), when).toHaveLength(left.files)
      expect(await world.sql('select * from audit_anchors'), when).toHaveLength(left.anchors)
      expect((await all(world)).slice(0, before.length), when).toEqual(before)
      expect(await world.faults(), when).toEqual([])
      await world.sql('update audit_progress set lease_until = 0') // ends the lease of the killed process
    }

    await world.archive()
    const files = await world.files()
    expect(files).toHaveLength(1)
    expect(await readdir(world.folder)).toHaveLength(1)
    expect(await entriesOf(files[0] ?? '')).toEqual(before.slice(0, ENTRIES))
    expect((await all(world)).slice(0, before.length)).toEqual(before)
    expect(await world.sql(`select first_seq from audit_blocks where first_seq <= ${ENTRIES}`)).toEqual([])
    expect(await world.sql('select last_seq from audit_anchors')).toHaveLength(1)
    expect(await world.faults()).toEqual([])
    expect(await world.faults('--archive', ...files)).toEqual([])
  })
})

test('an archive file of the same name with other entries is never replaced', async () => {
  await using world = await startArchiveWorld('sqlite')
  await world.sql('delete from audit_blocks')
  await world.fill(OLD, 6)
  await world.fill(NEWER, 6)
  await world.archive()
  const [file = ''] = await world.files()
  const kept = await entriesOf(file)
  // the trail after an older backup was restored and other entries were appended
  await world.sql('delete from audit_blocks')
  await world.sql('delete from audit_anchors')
  await world.fill(OLD + 60, 6)
  await world.fill(NEWER, 6)
  const refused = await world.run('audit', 'archive', '--before', '2026-02-01', '--to', world.folder)
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') })
  expect(await entriesOf(file)).toEqual(kept)
  expect(await readdir(world.folder)).toHaveLength(1)
  expect(await world.sql('select * from audit_anchors')).toEqual([])
  expect(await world.exported()).toHaveLength(12)
})
