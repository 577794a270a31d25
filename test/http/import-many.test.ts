import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { metadata, oauthEntry, startWorld, type World } from './world.ts'

// Imports of many tools at once.

let world: World

beforeAll(async () => {
  world = await startWorld()
})

afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

async function imported(documents: readonly unknown[]): Promise<{ result: string }[]> {
  const { status, body } = await world.call('POST', '/v1/tools/import', documents)
  expect(status, JSON.stringify(body).slice(0, 500)).toBe(200)
  return body.items
}

const resultsOf = async (documents: readonly unknown[]) =>
  (await imported(documents)).map(({ result }) => result)

/** The commits that imports have made, and what they have written into the audit trail. */
function importsInTrail(): { readonly blocks: number; readonly entries: number } {
  const database = new Database(world.gatepass.databasePath, { readonly: true })
  const rows = database
    .prepare(`select text from audit_blocks where text like '%"tool.imported"%'`)
    .all() as { text: string }[]
  database.close()
  return {
    blocks: rows.length,
    entries: rows.flatMap(({ text }) => text.match(/"tool\.imported"/g) ?? []).length,
  }
}

function numbered(name: string, count: number, more: (i: number) => Record<string, unknown> = () => ({})) {
  return Array.from({ length: count }, (_, i) => metadata(`${name} ${i}`, more(i)))
}

test('many are written in few transactions, each with its audit entry, and others are served meanwhile', async () => {
  const documents = numbered('Many', 500, (i) => ({ oauth: [oauthEntry(`many-${i % 3}`, world.as)] }))
  expect(await resultsOf(documents)).toEqual(documents.map(() => 'created'))
  const { blocks, entries } = importsInTrail()
  expect(entries).toBe(documents.length)
  expect(blocks).toBeLessThanOrEqual(documents.length / 25)
  const { items } = (await world.call('GET', '/v1/admin/auth_providers?limit=100')).body
  expect(items.filter(({ id }: { id: string }) => id.startsWith('many-'))).toHaveLength(3)

  let [served, isOver] = [0, false]
  const others = (async () => {
    while (!isOver) {
      await world.call('GET', '/health')
      if (!isOver) served++
    }
  })()
  expect(await resultsOf(documents)).toEqual(documents.map(() => 'unchanged'))
  isOver = true
  await others
  expect(served).toBeGreaterThan(2)
})

test('two imports of the same at once add each tool once', async () => {
  const documents = numbered('Twice', 60, (i) => ({ oauth: [oauthEntry(`twice-${i % 2}`, world.as)] }))
  const both = await Promise.all([resultsOf(documents), resultsOf(documents)])
  for (const [i, { name }] of documents.entries()) {
    const results = both.map((one) => one[i])
    expect(
      results.filter((one) => one === 'created'),
      name,
    ).toHaveLength(1)
    expect(['unchanged', 'updated']).toContain(results.find((one) => one !== 'created'))
  }
  const { items } = (await world.call('GET', '/v1/admin/auth_providers?limit=100')).body
  expect(items.filter(({ id }: { id: string }) => id.startsWith('twice-'))).toHaveLength(2)
})

test('a document sees what those before it have made', async () => {
  const first = metadata('Thrice', { description: 'First.' })
  const second = metadata('Thrice', { description: 'Second.' })
  expect(await resultsOf([first, first, second, second, { no: 'tool' }, first])).toEqual([
    'created',
    'unchanged',
    'updated',
    'unchanged',
    'refused',
    'updated',
  ])
  expect((await world.call('GET', '/v1/tools/Thrice')).body.description).toBe('First.')
})
