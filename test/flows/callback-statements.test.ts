import Database from 'better-sqlite3'
import { afterEach, expect, test, vi } from 'vitest'
import { approve, startScene } from './fixtures.ts'

afterEach(() => vi.restoreAllMocks())

/** The tables that a callback reads or writes. Background jobs use others, and those of `JOBS`. */
const TABLES = /(?:from|into|update) "?(authorizations|connections|providers|webhooks|audit_blocks|changes)\b/
const JOBS = /"poll_at" <=|"deliveries"|"claimed_by" not in|set "(opened|last_used)_at"|"expires_at" </

/** Each statement that is run, as `verb table`, and `commit`. */
function watchStatements(): string[] {
  const ran: string[] = []
  const { prepare } = Database.prototype
  vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (this: Database.Database, text) {
    const statement = prepare.call(this, text)
    const table = JOBS.test(text) ? undefined : TABLES.exec(text)?.[1]
    const name = text === 'commit' ? text : table && `${text.trim().split(' ')[0]} ${table}`
    if (name === undefined) return statement
    const watched = statement as unknown as Record<'run' | 'get' | 'all', (...values: unknown[]) => unknown>
    for (const how of ['run', 'get', 'all'] as const) {
      const original = watched[how].bind(statement)
      watched[how] = (...values) => {
        ran.push(name)
        return original(...values)
      }
    }
    return statement
  })
  return ran
}

/** The commits that write one of the tables, with the reads before; the commits of jobs, such as a heartbeat, are left out. */
function transactionsOf(ran: readonly string[]): readonly (readonly string[])[] {
  const transactions: string[][] = []
  let current: string[] = []
  for (const name of ran) {
    if (name !== 'commit') current.push(name)
    else if (current.some((one) => !one.startsWith('select'))) {
      transactions.push(current)
      current = []
    }
  }
  return transactions
}

// What a callback costs is mostly what it writes. The first commit lets no other request redeem the code, so it is on the
// disk before the code is sent; everything that the provider's answer changes is in the second.
test('a callback commits twice, and runs no statement that it does not need', async () => {
  const ran = watchStatements()
  await using scene = await startScene()
  const { browser, callback } = await approve((await scene.authorize()).body.url)
  ran.length = 0

  const answer = await browser.get(callback)

  expect(answer.status).toBe(303)
  expect(transactionsOf(ran)).toEqual([
    ['select authorizations', 'update authorizations'],
    [
      'select authorizations', // right before the code is sent: a suspended process may have lost its claim
      'select connections',
      'select providers',
      'update authorizations',
      'select connections',
      'insert connections',
      'select webhooks',
      'select audit_blocks',
      'insert audit_blocks',
      'insert changes',
      'insert changes',
    ],
  ])
})
