import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { newId, newOwnedId } from '../../src/domain/ids.ts'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { startWorld } from '../http/world.ts'
import { freshDatabase } from '../postgres.ts'
import { everyRequest } from './every-request.ts'
import { connected, inProject } from './fixtures.ts'
import { OF_ALL_OWNERS, OF_OWNERS, type SentStatement, watchStatements } from './owner-statements.ts'
import { allNodes, type PlanNode } from './plans.ts'

// On a partitioned database, each statement of a request that knows the user must use one partition only, by an index.

afterEach(() => vi.restoreAllMocks())

const PARTITIONS = 64

async function planOf(client: pg.Client, { text, values }: SentStatement): Promise<PlanNode[]> {
  const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
    `explain (format json) ${text}`,
    [...values],
  )
  const [plan] = rows
  if (plan === undefined) throw new Error(`no plan of ${text}`)
  return [...allNodes(plan['QUERY PLAN'][0].Plan)]
}

/** The partitions that these nodes read or write. */
function partitionsOf(nodes: readonly PlanNode[]): number {
  const names = nodes.map((node) => node['Relation Name'] ?? '')
  return new Set(names.filter((name) => /^(connections|authorizations)_\d+$/.test(name))).size
}

/** How many of eight executions PostgreSQL ran with a generic plan, which reads all partitions. */
async function genericPlans(client: pg.Client, { text, values }: SentStatement, i: number): Promise<number> {
  const name = `ran_${i}`
  for (let run = 0; run < 8; run++) await client.query({ name, text, values: [...values] })
  const { rows } = await client.query<{ generic: string }>(
    'select generic_plans as generic from pg_prepared_statements where name = $1',
    [name],
  )
  return Number(rows[0]?.generic)
}

async function startPartitioned() {
  const database = await freshDatabase()
  await (await openPostgresStore(database.url, { partitions: PARTITIONS })).close()
  const client = new pg.Client({ connectionString: database.url, options: '-c enable_seqscan=off' })
  await client.connect()
  return {
    url: database.url,
    client,
    async [Symbol.asyncDispose]() {
      await client.end()
      await database[Symbol.asyncDispose]()
    },
  }
}

test('each statement of a request that knows the user reads or writes one partition, however often it runs', async () => {
  await using database = await startPartitioned()
  const watched = watchStatements()
  await using world = await startWorld({ gatepass: { environment: { GATEPASS_DATABASE_URL: database.url } } })
  const requests = await everyRequest(world)
  for (const name of ['first', 'second']) await requests.round(name)
  requests.expectAllAnswered()
  vi.restoreAllMocks()

  const { client } = database
  const latest = new Map(watched.map((ran) => [ran.text, ran]))
  const faults: string[] = []
  const needed = new Set<object>()
  let reads = 0
  for (const ran of latest.values()) {
    if (!OF_OWNERS.test(ran.text)) continue
    const nodes = await planOf(client, ran)
    const partitions = partitionsOf(nodes)
    if (nodes.some((node) => node['Node Type'] === 'Seq Scan' && partitionsOf([node]) > 0))
      faults.push(`no index\n  ${ran.text}`)
    const exception = OF_ALL_OWNERS.find(({ statement }) => statement.test(ran.text))
    if (partitions > 1 && exception !== undefined) needed.add(exception)
    else if (partitions > 1) faults.push(`${partitions} partitions\n  ${ran.text} ${ran.values}`)
    else if (/^select (?!.* for update)/s.test(ran.text) && (await genericPlans(client, ran, reads++)) > 0)
      faults.push(`all partitions from the sixth time on\n  ${ran.text}`)
  }
  expect(faults.join('\n')).toBe('')
  expect(reads).toBeGreaterThan(8)
  // an exception that no statement needs must be removed
  expect(OF_ALL_OWNERS.filter((exception) => !needed.has(exception))).toEqual([])
})

test('batched writes and reads of several users use only the partitions of these users', async () => {
  await using database = await startPartitioned()
  const store = await openPostgresStore(database.url)
  const { owner } = await inProject(store)
  const owners = ['ada', 'grace', 'joan'].map((userId) => ({ ...owner, userId }))
  const ids: string[] = []
  for (const one of owners) {
    const id = newOwnedId('conn', one.projectId, one.userId)
    ids.push((await connected(store, one, { id })).id)
  }
  const watched = watchStatements()
  await Promise.all(owners.map((one) => store.connections.ofOwner(one)))
  await store.connections.used(new Map(ids.map((id) => [id, 1])))
  vi.restoreAllMocks()

  const ran = watched.filter(({ text }) => OF_OWNERS.test(text))
  expect(ran).toHaveLength(2)
  // two of the users may be in the same partition
  const { rows } = await database.client.query(
    'select count(distinct tableoid)::int as partitions from connections',
  )
  for (const one of ran)
    expect(partitionsOf(await planOf(database.client, one)), one.text).toBe(rows[0].partitions)
  await store.close()
})

test('an id of an older release is looked up in all partitions once, and then in the partition where it was found', async () => {
  await using database = await startPartitioned()
  const store = await openPostgresStore(database.url)
  const { owner } = await inProject(store)
  const { id } = await connected(store, owner, { id: newId('conn') })
  await store.close()

  const again = await openPostgresStore(database.url)
  const watched = watchStatements()
  for (let i = 0; i < 2; i++) expect(await again.connections.find(id)).toMatchObject({ id })
  await again.connections.used(new Map([[id, 7]]))
  vi.restoreAllMocks()
  const touched: number[] = []
  for (const ran of watched.filter(({ text }) => OF_OWNERS.test(text)))
    touched.push(partitionsOf(await planOf(database.client, ran)))
  expect(touched).toEqual([PARTITIONS, 1, 1])
  expect(await again.connections.find(id)).toMatchObject({ lastUsedAt: 7 })
  await again.close()
})
