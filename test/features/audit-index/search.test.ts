import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { AuditEvent } from '../../../src/domain/audit.ts'
import { rebuildIndex, verifyIndex } from '../../../src/features/audit-index/verify-index.ts'
import { indexAudit } from '../../../src/features/audit-index/write-index.ts'
import { verifyAudit } from '../../../src/flows/audit/verify-audit.ts'
import { inContext } from '../../../src/services/request-context.ts'
import type { AnyJson } from '../../any-json.ts'
import { startWorld, type World } from '../../http/world.ts'

// Two full segments of the index and a part of a third, so that each search meets what is indexed and what is not.

const ENTRIES = 9_000
const PER_BLOCK = 300

let world: World
let projectId: string
let database: Database.Database
let all: AnyJson[]

beforeAll(async () => {
  // no job of the server's own indexes meanwhile, or has the lease when a test wants it
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  world = await startWorld()
  vi.useRealTimers()
  const { broker, databasePath } = world.gatepass
  projectId = (await broker.store.projects.ensure('default', 0)).id
  database = new Database(databasePath)
  // held until the first test has looked at a trail without an index
  expect(await progress()).toBeUndefined()
  await broker.store.trailLeases.claim(projectId, { owner: 'died', seconds: 86_400 }, broker.now())
  for (let first = 0; first < ENTRIES; first += PER_BLOCK) {
    const events = Array.from({ length: PER_BLOCK }, (_, i) => eventOf(first + i))
    const lines = events.flatMap(([actor, event]) =>
      inContext(
        { actor: { kind: 'api_key', id: actor }, purpose: 'test' },
        () => broker.audit.of(projectId, event).lines,
      ),
    )
    await broker.store.audit.append({ projectId, at: 1_000_000 + first, lines, link: broker.audit.link })
  }
  all = await exported('')
})

afterAll(async () => {
  database.close()
  await world[Symbol.asyncDispose]()
})

function eventOf(i: number): [string, AuditEvent] {
  const user = `user-${i % 700}`
  const action =
    i % 2_000 === 7 ? 'connection.deleted' : i % 3 === 0 ? 'connection.refreshed' : 'token.released'
  return [
    `key_${i % 2}`,
    {
      action,
      userId: user,
      providerId: i % 5 === 0 ? 'slack' : 'github',
      connectionId: `conn_${user}`,
      ...(i % 4 === 0 && { tool: 'GitHub:Star:1.0.0' }),
      ...(i === 4_100 && { subject: 'the-worker' }),
      ...(i === 4_200 && { detail: '"user_id":"user-nobody"' }),
    },
  ]
}

async function exported(query: string): Promise<AnyJson[]> {
  const { body } = await world.call('GET', `/v1/admin/audit/export?${query}`)
  return String(body)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

async function listed(query: string, limit = 700): Promise<AnyJson[]> {
  const items: AnyJson[] = []
  for (let before = ''; ; ) {
    const { status, body } = await world.call('GET', `/v1/admin/audit?limit=${limit}&${query}${before}`)
    expect(status).toBe(200)
    items.push(...body.items)
    if (body.next_before === undefined) return items
    before = `&before=${body.next_before}`
  }
}

const at = (seconds: number) => new Date(seconds * 1000).toISOString()
const timeOf = (i: number) => 1_000_000 + Math.floor(i / PER_BLOCK) * PER_BLOCK

type Meant = (entry: AnyJson, i: number) => boolean
/** `i`: the place among the entries of this test, which are the last of the trail. */
const SEARCHES: readonly [string, Meant][] = [
  ['user_id=user-13', (one) => one.user_id === 'user-13'],
  ['user_id=user-nobody', () => false],
  ['connection_id=conn_user-600', (one) => one.connection_id === 'conn_user-600'],
  ['subject=the-worker', (one) => one.subject === 'the-worker'],
  ['action=connection.deleted', (one) => one.action === 'connection.deleted'],
  ['actor_id=key_1&action=token.released&tool=GitHub:Star:1.0.0', () => false],
  ['provider_id=slack&action=connection.deleted', () => false],
  [
    'provider_id=slack&tool=GitHub:Star:1.0.0&actor_id=key_0',
    (one) => one.provider_id === 'slack' && one.tool === 'GitHub:Star:1.0.0' && one.actor.id === 'key_0',
  ],
  [`since=${at(timeOf(1_200))}&until=${at(timeOf(4_500))}`, (_, i) => i >= 1_200 && i < 4_800],
  [
    `user_id=user-13&since=${at(timeOf(3_000))}&until=${at(timeOf(8_600))}`,
    (one, i) => one.user_id === 'user-13' && i >= 3_000 && i < 8_700,
  ],
]

async function expectSearches(searches = SEARCHES): Promise<void> {
  const begin = all.length - ENTRIES
  for (const [query, isMeant] of searches) {
    const expected = all.filter((one, i) => isMeant(one, i - begin)).map(({ seq }) => seq)
    expect(
      (await exported(query)).map(({ seq }) => seq),
      query,
    ).toEqual(expected)
    expect(
      (await listed(query)).map(({ seq }) => seq),
      query,
    ).toEqual(expected.toReversed())
    const after = expected[Math.floor(expected.length / 2)] ?? 1
    expect(
      (await exported(`${query}&after=${after}`)).map(({ seq }) => seq),
      query,
    ).toEqual(expected.filter((seq) => seq > after))
  }
}

const progress = () => world.gatepass.broker.store.auditIndex.progress(projectId)

describe('a search of the audit trail', () => {
  test('finds the same before anything is indexed, beside a half-written index, and by the index', async () => {
    const { broker } = world.gatepass
    const { auditIndex, trailLeases } = broker.store
    await auditIndex.putTerms(projectId, 0, new Map([[1, '\n1:AAAA']]))
    await expectSearches()
    await trailLeases.claim(projectId, { owner: 'died', seconds: 0 }, broker.now()) // its lease lapses
    await indexAudit(broker)
    expect(await progress()).toEqual({ indexedFrom: 0, indexedTo: 2 })
    await expectSearches()
    await indexAudit(broker)
    expect(await verifyIndex(broker, projectId)).toEqual([])
  })

  test('is not said to be made again while another process has its lease', async () => {
    const { broker } = world.gatepass
    const { trailLeases } = broker.store
    await trailLeases.claim(projectId, { owner: 'another process', seconds: 60 }, broker.now())
    expect(await rebuildIndex(broker, projectId)).toBe(false)
    await expectSearches()
    await trailLeases.endClaim(projectId, 'another process')
    expect(await rebuildIndex(broker, projectId)).toBe(true)
    expect(await progress()).toEqual({ indexedFrom: 0, indexedTo: 2 })
  })

  test('believes the blocks, not the index: rows that name other entries add nothing', async () => {
    const { broker } = world.gatepass
    await rebuildIndex(broker, projectId)
    const everyEntry = Buffer.alloc(512, 255).toString('base64')
    for (const { rowid, terms } of database
      .prepare<[], { rowid: number; terms: string }>('select rowid, terms from audit_terms')
      .all())
      database
        .prepare('update audit_terms set terms = ? where rowid = ?')
        .run(terms.replaceAll(/:[^\n]*/g, `:${everyEntry}`), rowid)
    await expectSearches(SEARCHES.filter(([query]) => /user-13$|subject/.test(query)))
    expect(await verifyIndex(broker, projectId)).toHaveLength(2)
    await rebuildIndex(broker, projectId)
    expect(await verifyIndex(broker, projectId)).toEqual([])
  })

  test('is as complete as the index: what was deleted from it is shown by a check, and made again', async () => {
    const { broker } = world.gatepass
    await rebuildIndex(broker, projectId)
    const found = (await listed('user_id=user-13')).length
    database.exec('delete from audit_terms where segment = 1')
    expect((await listed('user_id=user-13')).length).toBeLessThan(found)
    expect((await verifyIndex(broker, projectId)).join()).toMatch(
      /does not have all of the entries 4097 to 8192/,
    )
    await rebuildIndex(broker, projectId)
    database.exec('update audit_segments set until_at = since_at')
    expect(await verifyIndex(broker, projectId)).toHaveLength(2)
    database.exec('update audit_progress set indexed_to = 3')
    expect((await verifyIndex(broker, projectId)).join()).toMatch(/more entries than the trail/)
    database.exec('delete from audit_progress')
    await indexAudit(broker)
    expect(await verifyIndex(broker, projectId)).toEqual([])
  })

  test('is not held up by a line that was altered until it is no JSON; the check shows it', async () => {
    const { broker } = world.gatepass
    const blocks = 'from audit_blocks where first_seq between 4500 and 4800'
    const texts = database.prepare<[], { rowid: number; text: string }>(`select rowid, text ${blocks}`).all()
    expect(texts).toHaveLength(1)
    const write = database.prepare('update audit_blocks set text = ? where rowid = ?')
    for (const { rowid, text } of texts) write.run(`broken ${text}`, rowid)
    await rebuildIndex(broker, projectId)
    expect(await progress()).toEqual({ indexedFrom: 0, indexedTo: 2 })
    expect((await verifyAudit(broker, projectId)).faults.join()).toMatch(/were altered/)
    for (const { rowid, text } of texts) write.run(text, rowid)
    expect(await verifyIndex(broker, projectId)).toHaveLength(1)
    await rebuildIndex(broker, projectId)
    expect(await verifyIndex(broker, projectId)).toEqual([])
  })

  test('goes on while another process indexes', async () => {
    const { broker } = world.gatepass
    await rebuildIndex(broker, projectId)
    const { auditIndex, trailLeases } = broker.store
    await auditIndex.restart(projectId, 0)
    expect(await trailLeases.claim(projectId, { owner: 'another', seconds: 60 }, broker.now())).toBe(true)
    await indexAudit(broker)
    expect(await progress()).toEqual({ indexedFrom: 0, indexedTo: 0 })
    await trailLeases.endClaim(projectId, 'another')
    await indexAudit(broker)
    expect(await progress()).toEqual({ indexedFrom: 0, indexedTo: 2 })
  })

  test('is indexed for every project, also when that of an earlier one fails', async () => {
    const { broker } = world.gatepass
    await world.call('POST', '/v1/admin/projects', { name: 'later' })
    const projects = await broker.store.projects.list()
    expect(projects.length).toBeGreaterThan(1)
    const head = vi.spyOn(broker.store.audit, 'head').mockRejectedValueOnce(new Error('cannot be read'))
    const log = { ...broker.log, error: vi.fn() }
    await indexAudit({ ...broker, log })
    expect(log.error.mock.calls).toEqual([
      [{ project: projects[0]?.name, error: expect.any(Error) }, 'the audit trail cannot be indexed'],
    ])
    expect(head.mock.calls.map(([id]) => id)).toEqual(projects.map(({ id }) => id))
    head.mockRestore()
  })
})
