import { test } from 'vitest'
import { freshDatabase } from '../postgres.ts'
import { startReplicated } from './replicated.ts'
import { runHistory } from './run.ts'

// Short histories under random faults; `npm run history` makes longer ones. Their choices are the same each time.

const SECONDS = 4

test.concurrent('two processes on one SQLite file keep every promise', async ({ expect }) => {
  const { violations, counts } = await runHistory({ kind: 'SQLite', seed: 1, seconds: SECONDS })
  expect(violations).toEqual([])
  expect(counts.requests).toBeGreaterThan(0)
})

test.concurrent('three nodes on a PostgreSQL whose synchronous standby takes over between flush and answer keep every promise', async ({
  expect,
}) => {
  await using server = await startReplicated()
  const { violations, counts } = await runHistory({
    kind: 'PostgreSQL',
    seed: 3,
    seconds: SECONDS,
    databaseUrl: server.url,
    server,
  })
  expect(violations).toEqual([])
  expect(counts.failovers).toBeGreaterThan(0)
})

test.concurrent('three nodes on PostgreSQL, with links that fail and clocks apart, keep every promise', async ({
  expect,
}) => {
  await using database = await freshDatabase()
  const { violations, counts } = await runHistory({
    kind: 'PostgreSQL',
    seed: 2,
    seconds: SECONDS,
    databaseUrl: database.url,
  })
  expect(violations).toEqual([])
  expect(counts.requests).toBeGreaterThan(0)
})
