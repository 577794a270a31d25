import { open, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { BrokerError } from '../../../src/domain/errors.ts'
import { archiveTrail } from '../../../src/features/audit-archive/archive-trail.ts'
import { verifyAudit } from '../../../src/flows/audit/verify-audit.ts'
import { verifyEnd } from '../../../src/flows/audit/verify-end.ts'
import { Gatepass } from '../../../src/sdk/client/gatepass.ts'
import {
  type ArchiveWorld,
  DATABASES,
  entriesOf,
  NEWER,
  OLD,
  startArchiveWorld,
} from '../../audit-archive-world.ts'
import { runHere } from '../../cli/gatepass.ts'
import { freshDatabase } from '../../postgres.ts'
import { MASTER_KEY } from '../../served.ts'

// Blocks of three entries: 1 to the last of `OLD` are old enough for `archive()`, those of `NEWER` are not. The first
// start of the server has written entries of its own, today, which a test must not find before the old ones: each world
// empties the trail first.

async function start(kind: (typeof DATABASES)[number]) {
  const world = await startArchiveWorld(kind)
  await world.sql('delete from audit_blocks')
  if (kind === 'postgres') await world.sql('delete from audit_heads')
  await world.fill(OLD, 9)
  await world.fill(NEWER, 6)
  return world
}

describe.each(DATABASES)('archiving the audit trail of %s', (kind) => {
  test('moves old entries into a file, from whose end the trail goes on', async () => {
    await using world = await start(kind)
    const before = await world.exported()
    const known = (await world.json('audit', 'verify')).items[0].head
    const archived = await world.archive()
    expect(archived).toEqual([
      {
        file: `${world.projectId}-000000000001-000000000009.audit.jsonl`,
        first_seq: 1,
        last_seq: 9,
        entries: 9,
      },
    ])
    const [file = '', ...more] = await world.files()
    expect([file, ...more]).toEqual([join(world.folder, archived[0].file)])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await entriesOf(file)).toEqual(before.slice(0, 9))

    expect(await world.sql('select first_seq from audit_blocks order by first_seq')).toHaveLength(3)
    const left = await world.exported()
    expect(left.slice(0, 6)).toEqual(before.slice(9))
    expect(left.slice(6).map((line) => JSON.parse(line))).toMatchObject([
      {
        seq: 16,
        action: 'audit.archived',
        actor: { kind: 'cli' },
        subject: archived[0].file,
        detail: 'entries 1 to 9',
        purpose: 'gatepass audit archive',
      },
    ])
    const [verdict] = (await world.json('audit', 'verify', '--index')).items
    expect(verdict).toMatchObject({ entries: 16, faults: [], index_faults: [], anchor: { seq: 9 } })
    const { stdout } = await world.run('audit', 'verify', '--head', known)
    expect(stdout).toMatch(
      /16 entries, none altered\. Checked from the anchor at entry 9, up to which everything was archived on 2\d/,
    )
    expect(await world.faults('--archive', file)).toEqual([])

    expect(await world.archive()).toEqual([])
    expect(
      (await world.run('audit', 'archive', '--before', '2026-02-01', '--to', world.folder)).stdout,
    ).toMatch(/no entries before 2026-02-01T00:00:00.000Z/)
    await world.fill(NEWER, 3)
    expect(await world.faults()).toEqual([])
  })

  test('says over HTTP which entries are archived, and lets no export skip them unnoticed', async () => {
    await using world = await start(kind)
    const { gatepass } = world
    expect((await gatepass.call('GET', '/v1/admin/audit')).body).not.toHaveProperty('archived_through')
    await world.archive()
    const list = (query: string) => gatepass.call('GET', `/v1/admin/audit?${query}`)
    expect((await list('limit=2')).body).toMatchObject({
      archived_through: 9,
      items: [{ seq: 16 }, { seq: 15 }],
    })
    expect((await list('before=5')).body).toEqual({ items: [], archived_through: 9 })
    const whole = await gatepass.call('GET', '/v1/admin/audit/export')
    expect(whole.headers.get('audit-archived-through')).toBe('9')
    const refused = await gatepass.call('GET', '/v1/admin/audit/export?after=8')
    expect(refused).toMatchObject({
      status: 410,
      body: { name: 'entries_archived', message: expect.stringContaining('after=9') },
    })
    expect(await world.exported('?after=9')).toHaveLength(7)
    const client = new Gatepass({ baseUrl: gatepass.url, apiKey: gatepass.apiKey })
    expect((await client.admin.audit.list().page()).archivedThrough).toBe(9)
    await expect(
      client.admin.audit.export({ after: 3 })[Symbol.asyncIterator]().next(),
    ).rejects.toMatchObject({ code: 'entries_archived' })
    const command = await world.run('audit', 'export', '--after', '3')
    expect(command).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('were archived') })
  })

  test('a trail keeps its newest entry, whatever is archived', async () => {
    await using world = await start(kind)
    const all = async () =>
      (await world.json('audit', 'archive', '--before', '2099-01-01', '--to', world.folder)).items[0].archived
    expect(await all()).toMatchObject([{ first_seq: 1, last_seq: 15 }])
    expect((await world.exported()).map((line) => JSON.parse(line).seq)).toEqual([16])
    expect(await all()).toEqual([])
    await world.fill(NEWER, 3)
    expect(await all()).toMatchObject([{ first_seq: 16, last_seq: 19 }])
    expect((await world.exported()).map((line) => JSON.parse(line).seq)).toEqual([20])
    expect(await world.faults()).toEqual([])
    expect(await world.faults('--archive', ...(await world.files()))).toEqual([])
  })

  test('several files join, each its own anchor; one that is missing between them is noticed', async () => {
    await using world = await start(kind)
    const { broker } = world.gatepass
    const project = { id: world.projectId, name: 'default', createdAt: 0 }
    const request = { before: NEWER, folder: world.folder, entriesPerFile: 3 }
    expect(await archiveTrail(broker, project, request)).toMatchObject([
      { firstSeq: 1, lastSeq: 3 },
      { firstSeq: 4, lastSeq: 6 },
      { firstSeq: 7, lastSeq: 9 },
    ])
    const [one = '', two = '', three = ''] = await world.files()
    expect(await world.faults()).toEqual([])
    expect(await world.faults('--archive', three, one, two)).toEqual([])
    expect(await world.faults('--archive', one, three)).toEqual([
      'the entries 4 to 6 are in none of the archives',
    ])
    await world.sql('delete from audit_anchors where last_seq = 6')
    expect(await world.faults()).toEqual(['the anchor at entry 6 is missing'])
  })

  test('holds up no release, and a check that runs meanwhile finds no fault', async () => {
    await using world = await start(kind)
    const { broker } = world.gatepass
    await world.fill(OLD + 60, 600)
    const project = { id: world.projectId, name: 'default', createdAt: 0 }
    let isDone = false
    const archiving = (async () => {
      for (let day = 0; day < 4; day++) {
        await world.fill(OLD + day, 300)
        await archiveTrail(broker, project, { before: NEWER + day, folder: world.folder, entriesPerFile: 90 })
      }
    })().finally(() => {
      isDone = true
    })
    let checks = 0
    while (!isDone) {
      const [{ faults }] = await Promise.all([
        verifyAudit(broker, world.projectId),
        broker.audit.record(world.projectId, { action: 'token.released' }),
      ])
      expect(faults).toEqual([])
      checks++
    }
    await archiving
    expect(checks).toBeGreaterThan(2)
    expect((await world.files()).length).toBeGreaterThan(1)
    expect(await world.faults('--archive', ...(await world.files()))).toEqual([])
  })

  test('the last entries verify while others are archived, and no failure of the database is a fault', async () => {
    await using world = await start(kind)
    const { broker } = world.gatepass
    const { audit } = broker.store
    /** The verdict on the last entries, where `meanwhile` runs after the first read. */
    const verdict = (meanwhile: () => Promise<void>) => {
      let reads = 0
      const blocks: typeof audit.blocks = async (...asked) => {
        if (++reads === 2) await meanwhile()
        return audit.blocks(...asked)
      }
      const store = { ...broker.store, audit: { ...audit, blocks } }
      return verifyEnd({ ...broker, store }, world.projectId)
    }
    const unavailable = new BrokerError('store_unavailable', 'The database cannot be used right now.')
    await expect(verdict(() => Promise.reject(unavailable))).rejects.toBe(unavailable)
    const archived = await verdict(async () => void (await world.archive()))
    expect(archived).toEqual({ from: 10, to: 16, hash: expect.any(String) })
    expect(await verdict(async () => {})).toEqual(archived)
    await world.sql('update audit_blocks set at = at + 1 where first_seq = 13')
    expect(await verdict(async () => {})).toEqual({
      from: 10,
      to: 12,
      fault: 'After entry 12 the trail is not what was recorded.',
    })
  })

  test('threat 49: the trail cannot be shortened without the master key', async () => {
    await using world = await start(kind)
    const other = (await world.gatepass.broker.store.projects.ensure('other', 0)).id
    await world.fill(OLD, 9, other)
    await world.fill(NEWER, 3, other)
    await world.archive()
    await world.fill(NEWER, 9)
    const [older] = await world.sql('select * from audit_anchors')
    await world.sql('delete from audit_blocks where first_seq = 999') // the tables may be written
    await world.json('audit', 'archive', '--before', '2026-04-01', '--to', world.folder)
    expect(await world.faults('--all')).toEqual([])
    const [newer] = await world.sql('select * from audit_anchors order by last_seq desc')
    const insert = (anchor: object) =>
      world.sql(
        `insert into audit_anchors (${Object.keys(anchor)}) values (${Object.values(anchor).map((value) => `'${value}'`)})`,
      )
    const newest = `project_id = '${world.projectId}' and last_seq = ${newer?.last_seq}`
    const [first] = await world.sql(
      `select first_seq, hash from audit_blocks where project_id = '${other}' and first_seq < 8 order by first_seq desc`,
    )

    // (a) blocks deleted, and no anchor
    await world.sql(
      `create table kept as select * from audit_blocks where project_id = '${other}' and first_seq < 4`,
    )
    await world.sql(`delete from audit_blocks where project_id = '${other}' and first_seq < 4`)
    expect(await world.faults('--project', 'other')).toEqual([
      'entry 1 is missing: the next block begins with 4',
    ])
    // (b) with an anchor that is forged
    const forged = { ...newer, project_id: other, first_seq: 1, last_seq: 3, hash: first?.hash }
    await insert(forged)
    const notMade = (seq: unknown) =>
      `the anchor at entry ${seq} was not made by this installation for this project`
    expect(await world.faults('--project', 'other')).toEqual([
      notMade(3),
      'entry 1 is missing: the next block begins with 4',
    ])
    expect((await world.gatepass.call('GET', '/v1/admin/audit')).body.archived_through).toBe(
      newer?.last_seq === undefined ? 0 : Number(newer.last_seq),
    )
    await world.sql(`delete from audit_anchors where project_id = '${other}'`)
    // (e) with another project's
    await insert({ ...older, project_id: other })
    expect((await world.faults('--project', 'other'))[0]).toBe(notMade(9))
    await world.sql(`delete from audit_anchors where project_id = '${other}'`)
    await world.sql('insert into audit_blocks select * from kept')
    expect(await world.faults('--all')).toEqual([])

    // many forged ones neither hide the genuine one nor end the check
    const many = Array.from({ length: 130 }, (_, i) => ({ ...newer, last_seq: 1_000 + i, mac: 'x' }))
    for (const one of many) await insert(one)
    expect(await world.faults()).toHaveLength(20)
    const { body } = await world.gatepass.call('GET', '/v1/admin/audit')
    expect(body.archived_through).toBe(Number(newer?.last_seq))
    await world.sql('delete from audit_anchors where last_seq >= 1000')
    expect(await world.faults()).toEqual([])

    // an anchor that was altered, though its blocks are as they were
    await world.sql(`update audit_anchors set at = at + 1 where ${newest}`)
    expect(await world.faults()).toContain(notMade(newer?.last_seq))
    await world.sql(`update audit_anchors set at = at - 1 where ${newest}`)
    // (c) only an older true one is there
    await world.sql(`delete from audit_anchors where ${newest}`)
    expect(await world.faults()).toEqual([
      expect.stringMatching(/^entry 10 is missing: the next block begins/),
    ])
    // (d) none is there
    await world.sql(`delete from audit_anchors where project_id = '${world.projectId}'`)
    expect(await world.faults()).toEqual([
      expect.stringMatching(/^entry 1 is missing: the next block begins/),
    ])
    // an anchor with nothing after it
    await insert(older ?? {})
    await insert(newer ?? {})
    expect(await world.faults()).toEqual([])
    await world.sql(`delete from audit_blocks where project_id = '${world.projectId}'`)
    expect(await world.faults()).toEqual([expect.stringContaining('were cut off')])
  })

  test('entries that an anchor does not speak of are not removed by it', async () => {
    await using world = await start(kind)
    await world.sql('create table kept as select * from audit_blocks where first_seq = 7')
    await world.archive()
    await world.sql("update kept set hash = 'of another history'")
    await world.sql('insert into audit_blocks select * from kept')
    expect(await world.run('audit', 'archive', '--before', '2026-02-01', '--to', world.folder)).toMatchObject(
      {
        code: 1,
        stderr: expect.stringContaining('The anchor at entry 9 does not belong to the entries there'),
      },
    )
    expect(await world.sql('select first_seq from audit_blocks where first_seq < 10')).toHaveLength(1)
  })

  test('a trail that does not verify is not archived, and a head from before the anchor is looked for in the files', async () => {
    await using world = await start(kind)
    const [third] = await world.sql('select hash from audit_blocks where first_seq = 4')
    await world.sql('update audit_blocks set at = at - 60 where first_seq = 7')
    const refused = await world.run('audit', 'archive', '--before', '2026-02-01', '--to', world.folder)
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not match what was recorded from entry 7 on'),
    })
    expect(await world.files()).toEqual([])
    expect(await world.sql('select * from audit_anchors')).toEqual([])
    await world.sql('update audit_blocks set at = at + 60 where first_seq = 7')

    await world.archive()
    const files = await world.files()
    expect(await world.faults('--head', `6:${third?.hash}`)).toEqual([
      'the end you know (entry 6) is archived: give its archive with --archive to see whether the archive contains that end',
    ])
    expect(await world.faults('--head', `6:${third?.hash}`, '--archive', ...files)).toEqual([])
    expect(await world.faults('--head', `6:${'x'.repeat(43)}`, '--archive', ...files)).toEqual([
      'neither it nor another archive has the end you know (entry 6)',
    ])
  })

  test('anchors are carried by a backup, by moving to another database and across a new master key', async () => {
    await using world = await start(kind)
    await world.archive()
    const files = await world.files()
    const backup = join(world.folder, 'backup.db')
    await world.json('backup', '--to', backup)
    await using fresh = await freshDatabase()
    const NEW_KEY = Buffer.alloc(32, 9).toString('base64')
    const on = async (database: string, keys: string, ...args: string[]) => {
      const environment = { GATEPASS_DATABASE_URL: database, GATEPASS_MASTER_KEY: keys }
      const { code, stdout, stderr } = await runHere(environment, ...args)
      expect({ code, stderr: code === 0 ? '' : stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
      return stdout
    }
    for (const database of [`file:${backup}`, fresh.url]) {
      if (database === fresh.url)
        await on(fresh.url, MASTER_KEY, 'migrate', '--from', `file:${backup}`, '--to', fresh.url)
      if (database === fresh.url) await on(database, `${NEW_KEY},${MASTER_KEY}`, 'rotate-key')
      const key = database === fresh.url ? NEW_KEY : MASTER_KEY
      const { items } = JSON.parse(await on(database, key, 'audit', 'verify', '--json'))
      expect(items).toMatchObject([{ faults: [], anchor: { seq: 9 } }])
      await on(database, key, 'audit', 'verify', '--archive', ...files)
    }
  })
})

test('a PostgreSQL role that may not delete blocks loses nothing, and one that may goes on', async () => {
  await using world = await start('postgres')
  const before = await world.exported()
  const role = `restricted_${Date.now()}`
  await world.sql(
    `create role ${role} login password 'secret';
      grant all on schema public to ${role}; grant all on all tables in schema public to ${role};
      revoke update, delete, truncate on audit_blocks from ${role}`,
  )
  const url = Object.assign(new URL(world.database), { username: role, password: 'secret' })
  const settings = { GATEPASS_DATABASE_URL: url.href, GATEPASS_MASTER_KEY: MASTER_KEY }
  const archive = () => runHere(settings, 'audit', 'archive', '--before', '2026-02-01', '--to', world.folder)
  expect(await archive()).toMatchObject({ code: 1, stderr: expect.stringMatching(/permission denied/) })
  expect(await archive()).toMatchObject({ code: 1 })
  expect(await world.faults()).toEqual([])
  expect((await entriesOf((await world.files())[0] ?? '')).length).toBe(9)
  expect(await world.sql('select first_seq from audit_blocks where first_seq < 9')).toHaveLength(3)
  expect(await world.archive()).toEqual([])
  expect(await world.sql('select first_seq from audit_blocks where first_seq < 9')).toEqual([])
  expect((await world.exported()).slice(0, 6)).toEqual(before.slice(9))
  await world.sql(`drop owned by ${role}; drop role ${role}`)
})

test('makes the name of a file durable that an earlier run has left, before it removes entries', async () => {
  await using world = await start('sqlite')
  const { broker } = world.gatepass
  const archive = () =>
    archiveTrail(
      broker,
      { id: world.projectId, name: 'default', createdAt: 0 },
      { before: NEWER, folder: world.folder },
    )
  const reached = `'${world.projectId}', 9, 1, 'x', 1, 'x'`
  await world.sql(
    `insert into audit_anchors (project_id, last_seq, first_seq, hash, at, mac) values (${reached})`,
  )
  await expect(archive()).rejects.toThrow(/There is an anchor already/)
  await world.sql('delete from audit_anchors')
  const [left] = await world.files()

  const file = await open(left ?? '')
  await file.close()
  const syncs = vi.spyOn(Object.getPrototypeOf(file), 'sync')
  expect(await archive()).toMatchObject([{ firstSeq: 1, lastSeq: 9 }])
  expect(await world.files()).toEqual([left])
  expect(syncs).toHaveBeenCalledTimes(1)
  syncs.mockRestore()
})

test('an export breaks off when entries that it has not reached are archived', async () => {
  await using world = await start('sqlite')
  const { broker, url, apiKey } = world.gatepass
  await world.sql('delete from audit_blocks')
  await world.fill(OLD, 900)
  await world.fill(NEWER, 6)
  const { audit } = broker.store
  const blocks = audit.blocks.bind(audit)
  let isArchiving = false
  const reads = vi.spyOn(audit, 'blocks').mockImplementation(async (projectId, range) => {
    // when the first part has been read
    if ((range.fromSeq ?? 0) > 100 && !isArchiving) {
      isArchiving = true
      const project = { id: projectId, name: 'default', createdAt: 0 }
      await archiveTrail(broker, project, { before: NEWER, folder: world.folder })
    }
    return blocks(projectId, range)
  })
  const headers = { authorization: `Bearer ${apiKey}` }
  const answer = await fetch(`${url}/v1/admin/audit/export?after=0`, { headers })
  expect(answer.status).toBe(200)
  await expect(answer.text()).rejects.toThrow()
  expect(isArchiving).toBe(true)
  reads.mockRestore()
  expect((await world.exported())[0]).toContain('"seq":901')
})

test('waits for another process that indexes or archives the trail', async () => {
  await using world = await start('sqlite')
  const { trailLeases } = world.gatepass.broker.store
  await trailLeases.claim(world.projectId, { owner: 'another', seconds: 600 }, Date.now() / 1000)
  const archiving = world.run('audit', 'archive', '--before', '2026-02-01', '--to', world.folder)
  // `run` reads what the command writes by a spy
  await vi.waitFor(
    () => expect(vi.mocked(process.stderr.write).mock.calls.join('')).toContain('Waiting for'),
    300_000,
  )
  await setTimeout(1_500)
  expect(await world.files()).toEqual([])
  await trailLeases.endClaim(world.projectId, 'another')
  expect(await archiving).toMatchObject({ code: 0, stderr: expect.stringContaining('Waiting for') })
  expect(await world.files()).toHaveLength(1)
})

describe('gatepass audit verify --archive', () => {
  let archived: ArchiveWorld
  let file: string
  let text: string
  beforeAll(async () => {
    archived = await start('sqlite')
    await archived.archive()
    file = (await archived.files())[0] ?? ''
    text = await readFile(file, 'utf8')
  })
  afterAll(() => archived[Symbol.asyncDispose]())
  afterEach(() => writeFile(file, text))

  test.each<[string, (text: string) => string, RegExp]>([
    [
      'a changed word',
      (text) => text.replace('token.released', 'token.refused!'),
      /entries 1 to 3 were altered/,
    ],
    ['a changed number', (text) => text.replace('{"seq":5,', '{"seq":6,'), /entries 4 to 6 were altered/],
    [
      'another order of members',
      (text) => text.replace(/\{"seq":2,("at":"[^"]+"),/, '{$1,"seq":2,'),
      /altered|not a line of an archive/,
    ],
    [
      'an entry taken out',
      (text) => text.replace(/\{"seq":2,[^\n]*\n/, ''),
      /altered|not a line of an archive/,
    ],
    [
      'a block taken out',
      (text) => text.replace(/\{"block":\{"first_seq":4.*?(?=\{"block":\{"first_seq":7)/s, ''),
      /entries 7 to 9 do not follow 3/,
    ],
    [
      'the last block taken out',
      (text) => text.replace(/\{"block":\{"first_seq":7.*?(?=\{"end")/s, ''),
      /entries at its end are missing/,
    ],
    [
      'an end that fits a shorter file',
      (text) =>
        text
          .replace(/\{"block":\{"first_seq":7.*?(?=\{"end")/s, '')
          .replace('"last_seq":9,"entries":9', '"last_seq":6,"entries":6'),
      /its end was altered/,
    ],
    ['a file cut off within a line', (text) => text.slice(0, -5), /cut off/],
    ['a file cut off after a line', (text) => text.replace(/\{"end".*/s, ''), /cut off: it has no end/],
    ['lines after the end', (text) => `${text}{"seq":10}\n`, /added at its end/],
    ['another project', (text) => text.replace(/proj_\w+/, 'proj_0'), /were altered/],
    ['another file', () => 'hello\n', /not a line of an archive/],
    ['an empty file', () => '', /cut off/],
    [
      'a count that claims the rest of a long file',
      (text) => text.replace('"count":3,', '"count":9000,') + `${'x'.repeat(2 ** 20)}\n`.repeat(20),
      /the block from entry 1 on is longer than any block of an archive/,
    ],
    ['a line that does not end', () => 'x'.repeat(2 ** 24 + 2 ** 17), /longer than any line of an archive/],
  ])('shows %s', async (_, alter, fault) => {
    expect(alter(text)).not.toBe(text)
    await writeFile(file, alter(text))
    expect((await archived.faults('--archive', file)).join()).toMatch(fault)
  })

  test('says the name of the project as the database has it, not as the file says', async () => {
    await writeFile(file, text.replace('"project":"default"', '"project":"payroll"'))
    const { items } = await archived.json('audit', 'verify', '--archive', file)
    expect(items).toMatchObject([{ project: 'default', faults: [] }])
  })

  test('shows a file that is not there, and one of another installation', async () => {
    await using other = await start('sqlite')
    expect((await other.faults('--archive', file)).join()).toMatch(/were altered/)
    expect((await archived.faults('--archive', join(archived.folder, 'none'))).join()).toMatch(/no such file/)
  })

  test('verifies entries whose text an export does not give back letter by letter', async () => {
    await using world = await start('sqlite')
    const { broker } = world.gatepass
    const line = `{ "at": ${OLD}, "action": "token.released", "actor": {"kind":"system"} }`
    await world.sql('delete from audit_blocks')
    await broker.store.audit.append({
      projectId: world.projectId,
      at: OLD,
      lines: [line],
      link: broker.audit.link,
    })
    await world.fill(NEWER, 3)
    await world.archive()
    const [file = ''] = await world.files()
    expect(await world.faults('--archive', file)).toEqual([])
    await writeFile(file, (await readFile(file, 'utf8')).replace('"kind":"system"}}', '"kind":"cli"}}'))
    expect((await world.faults('--archive', file)).join()).toMatch(/were altered/)
  })
})

test('a command line that cannot be carried out is refused before anything is done', async () => {
  await using world = await start('sqlite')
  const archive = (...args: string[]) => world.run('audit', 'archive', ...args)
  for (const [args, reason] of [
    [['--to', world.folder], /--before/],
    [['--before', '400d'], /--to/],
    [['--before', 'yesterday', '--to', world.folder], /Write a date such as/],
    [['--before', '400d', '--to', join(world.folder, 'none')], /is not a folder/],
    [['--before', '400d', '--to', world.folder, '--project', 'none'], /no project "none"/],
  ] as const) {
    const refused = await archive(...args)
    expect(refused.code).toBeGreaterThan(0)
    expect(refused.stderr).toMatch(reason)
  }
  expect((await archive('--before', '99999d', '--to', world.folder)).stderr).toMatch(/Write a date/)
  expect((await archive('--before', '36500d', '--to', world.folder)).stdout).toMatch(/no entries before/)
  const head = (await world.json('audit', 'verify')).items[0].head // of one project, so false for every other
  expect(await world.run('audit', 'verify', '--all', '--head', head)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--project'),
  })
  for (const other of ['--all', '--index'])
    expect(await world.run('audit', 'verify', '--archive', 'none', other)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`leave ${other} out`),
    })
})
