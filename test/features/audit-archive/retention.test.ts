import { mkdir, readdir, rm } from 'node:fs/promises'
import { describe, expect, test, vi } from 'vitest'
import { sharedJobs } from '../../../src/background-jobs.ts'
import { archiveSettings } from '../../../src/features/audit-archive/settings.ts'
import { indexAudit } from '../../../src/features/audit-index/write-index.ts'
import { readConfig } from '../../../src/read-config.ts'
import { type ArchiveWorld, DATABASES, entriesOf, startArchiveWorld } from '../../audit-archive-world.ts'

const DAY = 86_400
const BEGIN = Date.parse('2026-01-01T00:00:00Z') / 1000

/** The server's clock, which a test moves. Its own jobs do not run: they would have the lease when a test wants it. */
async function start(kind: (typeof DATABASES)[number], environment: Record<string, string>) {
  const clock = { now: BEGIN }
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const world = await startArchiveWorld(kind, { environment, now: () => clock.now })
  vi.useRealTimers()
  return Object.assign(world, { clock })
}

/** As the timers of the server run them. */
async function runJobs(world: ArchiveWorld): Promise<void> {
  for (const { run } of sharedJobs(world.gatepass.broker)) await run()
}

const ranges = async (world: ArchiveWorld) =>
  (await world.files()).map((path) =>
    path
      .match(/-0*(\d+)-0*(\d+)\.audit/)
      ?.slice(1)
      .map(Number),
  )

describe.each(DATABASES)('GATEPASS_AUDIT_RETENTION on %s', (kind) => {
  test('moves what is older into the folder, a file for whole days, and nothing twice', async () => {
    await using world = await start(kind, { GATEPASS_AUDIT_RETENTION: '10d' })
    const { clock } = world
    const own = (await world.exported()).length
    for (const day of [0, 1, 2]) await world.fill(BEGIN + day * DAY + 3600, 6)
    const all = await world.exported()
    clock.now = BEGIN + 11 * DAY - 1
    await runJobs(world)
    expect(await world.files()).toEqual([])
    clock.now = BEGIN + 11 * DAY + 1
    await runJobs(world)
    await runJobs(world)
    clock.now += DAY - 2
    await runJobs(world)
    expect(await ranges(world)).toEqual([[1, own + 6]])
    clock.now += 2 * DAY
    await runJobs(world)
    expect(await ranges(world)).toEqual([
      [1, own + 6],
      [own + 7, own + 18],
    ])
    const files = await world.files()
    expect([...(await entriesOf(files[0] ?? '')), ...(await entriesOf(files[1] ?? ''))]).toEqual(all)
    const left = (await world.exported()).map((line) => JSON.parse(line))
    expect(left).toMatchObject([
      { action: 'audit.archived', actor: { kind: 'system' }, detail: `entries 1 to ${own + 6}` },
      { action: 'audit.archived', actor: { kind: 'system' }, detail: `entries ${own + 7} to ${own + 18}` },
    ])
    expect(await world.faults()).toEqual([])
    expect(await world.faults('--archive', ...files)).toEqual([])
  })

  test('with GATEPASS_AUDIT_ARCHIVE=none it deletes, which the trail says, and still verifies', async () => {
    await using world = await start(kind, {
      GATEPASS_AUDIT_RETENTION: '48h',
      GATEPASS_AUDIT_ARCHIVE: 'none',
    })
    await world.fill(BEGIN + 5, 6)
    await world.fill(BEGIN + 3 * DAY, 3)
    world.clock.now = BEGIN + 4 * DAY
    await runJobs(world)
    expect(await readdir(world.folder)).toEqual([])
    const left = (await world.exported()).map((line) => JSON.parse(line))
    expect(left).toHaveLength(4)
    expect(left[3]).toMatchObject({ action: 'audit.archived', reason: 'deleted_without_file' })
    expect(left[3]).not.toHaveProperty('subject')
    expect(await world.faults()).toEqual([])
  })

  test('one project that cannot be archived is logged, and holds up no other', async () => {
    await using world = await start(kind, { GATEPASS_AUDIT_RETENTION: '10d' })
    const { broker, logLines } = world.gatepass
    const other = (await broker.store.projects.ensure('other', 0)).id
    for (const id of [world.projectId, other])
      for (const day of [0, 20]) await world.fill(BEGIN + day * DAY, 3, id)
    await world.sql(
      `update audit_blocks set at = at - 1 where first_seq = 1 and project_id = '${world.projectId}'`,
    )
    world.clock.now = BEGIN + 20 * DAY
    await runJobs(world)
    expect((await world.files()).map((path) => path.includes(other))).toEqual([true])
    expect(logLines.join()).toContain('the audit trail cannot be archived')
  })

  test('doctor says when entries stay longer than they may', async () => {
    await using world = await start(kind, { GATEPASS_AUDIT_RETENTION: '10d' })
    const check = async () => {
      const { body } = await world.gatepass.call('GET', '/v1/admin/diagnosis')
      return body.checks.find(({ name }: { name: string }) => name === 'audit trail')
    }
    world.clock.now = BEGIN + 100 * DAY
    expect(await check()).toMatchObject({ status: 'ok' })
    await world.fill(BEGIN, 3)
    world.clock.now = BEGIN + 12 * DAY - 60
    expect(await check()).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('kept for 10 days'),
    })
    world.clock.now = BEGIN + 13 * DAY
    expect(await check()).toMatchObject({ status: 'warning', fix: expect.stringContaining('audit verify') })
    await runJobs(world)
    expect(await check()).toMatchObject({ status: 'ok' })
    expect(await world.files()).toHaveLength(1)
  })

  test('a folder that is away stops no start and keeps the entries in the trail, until it is back', async () => {
    await using world = await start(kind, { GATEPASS_AUDIT_RETENTION: '10d' })
    const { logLines, call } = world.gatepass
    await world.fill(BEGIN, 6)
    await world.fill(BEGIN + 20 * DAY, 3)
    const before = await world.exported()
    world.clock.now = BEGIN + 20 * DAY
    await rm(world.folder, { recursive: true })
    const settings = {
      GATEPASS_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
      GATEPASS_AUDIT_RETENTION: '10d',
      GATEPASS_AUDIT_ARCHIVE: world.folder,
    }
    expect(readConfig(settings, 'development').of(archiveSettings)).toMatchObject({ folder: world.folder })
    await runJobs(world)
    expect(await world.exported()).toEqual(before)
    expect(logLines.join()).toContain('the folder of GATEPASS_AUDIT_ARCHIVE is missing')
    const { checks } = (await call('GET', '/v1/admin/diagnosis')).body
    expect(checks).toContainEqual(
      expect.objectContaining({
        name: 'audit trail',
        status: 'warning',
        fix: expect.stringContaining('Mount'),
      }),
    )
    await mkdir(world.folder)
    await runJobs(world)
    expect(await entriesOf((await world.files())[0] ?? '')).toEqual(before.slice(0, -3))
    expect(await world.faults()).toEqual([])
  })

  test('searches find the same in what is left, by the index too', async () => {
    await using world = await start(kind, { GATEPASS_AUDIT_RETENTION: '10d' })
    const { broker } = world.gatepass
    for (const day of [0, 20]) {
      const one = (i: number) =>
        broker.audit.of(world.projectId, { action: 'token.released', userId: `user-${i % 50}` }).lines
      for (let block = 0; block < 20; block++) {
        const lines = Array.from({ length: 300 }, (_, i) => one(block * 300 + i)).flat()
        await broker.store.audit.append({
          projectId: world.projectId,
          at: BEGIN + day * DAY,
          lines,
          link: broker.audit.link,
        })
      }
    }
    await indexAudit(broker)
    const progress = () => broker.store.auditIndex.progress(world.projectId)
    expect(await progress()).toEqual({ indexedFrom: 0, indexedTo: 2 })
    const before = await world.exported('?user_id=user-7')
    world.clock.now = BEGIN + 20 * DAY
    await runJobs(world)
    expect(await progress()).toEqual({ indexedFrom: 2, indexedTo: 2 })
    expect(await world.sql('select count(*) as n from audit_terms')).toMatchObject([
      { n: expect.toSatisfy((n) => Number(n) === 0) },
    ])
    const after = await world.exported('?user_id=user-7')
    expect(after).toEqual(before.slice(120))
    expect(after).toHaveLength(120)
    expect((await world.json('audit', 'verify', '--index')).items).toMatchObject([
      { faults: [], index_faults: [] },
    ])
    for (let block = 0; block < 10; block++) await world.fill(BEGIN + 20 * DAY, 300)
    await indexAudit(broker)
    expect(await progress()).toEqual({ indexedFrom: 2, indexedTo: 3 })
    expect(await world.exported('?user_id=user-7')).toEqual(after)
    expect((await world.json('audit', 'verify', '--index')).items).toMatchObject([
      { faults: [], index_faults: [] },
    ])
  })
})

test.each([
  [{ GATEPASS_AUDIT_RETENTION: '400d' }, /GATEPASS_AUDIT_RETENTION needs GATEPASS_AUDIT_ARCHIVE/],
  [{ GATEPASS_AUDIT_ARCHIVE: 'none' }, /GATEPASS_AUDIT_ARCHIVE needs GATEPASS_AUDIT_RETENTION/],
  [{ GATEPASS_AUDIT_RETENTION: '400', GATEPASS_AUDIT_ARCHIVE: 'none' }, /must be a number of days or hours/],
  [{ GATEPASS_AUDIT_RETENTION: '23h', GATEPASS_AUDIT_ARCHIVE: 'none' }, /from 1d to 36500d/],
  [{ GATEPASS_AUDIT_RETENTION: '40000d', GATEPASS_AUDIT_ARCHIVE: 'none' }, /from 1d to 36500d/],
  [{ GATEPASS_AUDIT_RETENTION: '1d', GATEPASS_AUDIT_ARCHIVE: '/dev/null' }, /which is not a folder/],
])('a start is refused with the settings %j', (environment, fault) => {
  const settings = { GATEPASS_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'), ...environment }
  expect(() => readConfig(settings, 'development')).toThrow(fault)
})
