// Loaded into `gatepass serve` by `node --import`: ends the process with SIGKILL, or stops it with SIGSTOP until the test
// continues it, right before or right after the commit that the test names over IPC. It watches the statements in the
// drivers of both databases; no code of Gatepass takes part.

import { writeSync } from 'node:fs'
import type Sqlite from 'better-sqlite3'

/** The commit of the transaction in which this statement is run. A statement outside of transactions is its own commit. */
export interface KillPoint {
  readonly when: 'before' | 'after'
  /** A regular expression that the SQL, followed by its values as JSON, must match. */
  readonly statement: string
  /** How many such statements run first without effect. */
  readonly skip?: number
  /** Default: SIGKILL. */
  readonly signal?: 'SIGKILL' | 'SIGSTOP'
}

let point:
  | (Required<Pick<KillPoint, 'when' | 'signal'>> & { readonly statement: RegExp; left: number })
  | undefined

function arm({ when, statement, skip = 0, signal = 'SIGKILL' }: KillPoint): void {
  point = { when, statement: new RegExp(statement), left: skip, signal }
}

// for points that a process reaches while it starts, before it can get a message over IPC
if (process.env.TEST_KILL_AT !== undefined) arm(JSON.parse(process.env.TEST_KILL_AT))
process.on('message', (given: KillPoint) => {
  arm(given)
  process.send?.('armed')
})
process.on('disconnect', () => process.exit(1)) // the test that started this process has died
process.channel?.unref()

/** The values of the statement at the point, as JSON. */
let valuesAtPoint = ''

function isAtPoint(sql: string, values: unknown): boolean {
  const json = JSON.stringify(values)
  if (point === undefined || !point.statement.test(`${sql}\n${json}`)) return false
  const isNow = point.left-- <= 0
  if (isNow) valuesAtPoint = json
  return isNow
}

function killIf(isPoint: boolean, when: KillPoint['when']): void {
  if (!isPoint || point?.when !== when) return
  const { signal } = point
  point = undefined
  if (signal === 'SIGSTOP') writeSync(2, `stopped at ${valuesAtPoint}\n`)
  process.kill(process.pid, signal)
  if (signal === 'SIGSTOP') return
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) // no further statement is run before the signal arrives
}

// SQLite: the statements between BEGIN and COMMIT, or of a function that better-sqlite3 runs between them

let isInTransaction = false
let isPointPassed = false

type Run = (...args: unknown[]) => unknown

function watchedTransaction(begun: Run): Run {
  return function (this: unknown, ...args) {
    isInTransaction = true
    isPointPassed = false
    try {
      const result = begun.apply(this, args)
      killIf(isPointPassed, 'after')
      return result
    } finally {
      isInTransaction = false
    }
  }
}

/** BEGIN, COMMIT or ROLLBACK of a transaction. */
function watchedBoundary(sql: string, run: () => unknown): Run {
  return () => {
    const isCommit = /^commit/i.test(sql)
    if (isCommit) killIf(isPointPassed, 'before')
    const result = run()
    isInTransaction = /^begin/i.test(sql)
    if (isCommit) killIf(isPointPassed, 'after')
    isPointPassed = false
    return result
  }
}

async function watchSqlite(): Promise<void> {
  const { default: Database } = await import('better-sqlite3')
  const { prepare, transaction } = Database.prototype
  const sqlite = Database.prototype as unknown as { prepare: unknown; transaction: unknown } // their types are overloads

  sqlite.prepare = function (this: Sqlite.Database, sql: string) {
    const statement = prepare.call(this, sql)
    const methods = statement as unknown as Record<string, Run>
    for (const name of ['run', 'get', 'all']) {
      const method = methods[name] as Run
      if (/^(begin|commit|rollback$)/i.test(sql)) {
        methods[name] = watchedBoundary(sql, () => method.call(statement))
        continue
      }
      methods[name] = (...args) => {
        const isPoint = isAtPoint(sql, args)
        if (!isInTransaction) killIf(isPoint, 'before')
        const result = method.apply(statement, args)
        if (isInTransaction) isPointPassed ||= isPoint
        else killIf(isPoint, 'after')
        return result
      }
    }
    return statement
  }

  sqlite.transaction = function (this: Sqlite.Database, body: Run) {
    const made = transaction.call(this, (...args: unknown[]) => {
      const result = body(...args)
      killIf(isPointPassed, 'before')
      return result
    }) as unknown as Record<string, Run> & Run
    const watched = watchedTransaction(made)
    return Object.assign(
      watched,
      Object.fromEntries(
        ['default', 'deferred', 'immediate', 'exclusive'].map((name) => [
          name,
          watchedTransaction(made[name] as Run),
        ]),
      ),
    )
  }
}

// PostgreSQL: the statements of a client, from `begin` to `commit`

const clients = new WeakMap<object, { isInTransaction: boolean; isPointPassed: boolean }>()
async function watchPostgres(): Promise<void> {
  const { default: pg } = await import('pg')
  const runQuery = pg.Client.prototype.query as Run

  pg.Client.prototype.query = function (this: object, ...args: unknown[]) {
    const [query, more] = args as [string | { text?: string; values?: unknown }, unknown]
    const sql = typeof query === 'string' ? query : (query.text ?? '')
    const values = typeof query === 'string' ? more : (query.values ?? more)
    const known = clients.get(this) ?? { isInTransaction: false, isPointPassed: false }
    clients.set(this, known)
    if (sql.startsWith('begin')) Object.assign(known, { isInTransaction: true, isPointPassed: false })

    const isCommit = sql === 'commit'
    const isPoint = isAtPoint(sql, typeof values === 'function' ? undefined : values)
    known.isPointPassed ||= isPoint
    const isEnd = isCommit || !known.isInTransaction
    const isKilledHere = isEnd && known.isPointPassed
    if (isKilledHere) killIf(true, 'before')
    const last = args.at(-1)
    if (typeof last === 'function') {
      // the pool passes a callback
      const callback = last as (...answer: unknown[]) => void
      args[args.length - 1] = (...answer: unknown[]) => {
        if (isKilledHere) killIf(true, 'after')
        callback(...answer)
      }
    }
    const answered = runQuery.apply(this, args)
    if (isCommit || sql === 'rollback') Object.assign(known, { isInTransaction: false, isPointPassed: false })
    if (!(answered instanceof Promise)) return answered
    return answered.then((result) => {
      if (isKilledHere) killIf(true, 'after')
      return result
    })
  } as typeof pg.Client.prototype.query
}

// loads the driver of its database alone: the tests start many processes, and each waits for this
await (process.env.GATEPASS_DATABASE_URL?.startsWith('postgres') ? watchPostgres() : watchSqlite())
