import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, test, vi } from 'vitest'
import type { StoreChange } from '../../src/store/changes.ts'
import { openSqliteStore } from '../../src/store/dialects/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { claimed, connection, inProject, pending } from './fixtures.ts'

// Group commit on SQLite: writes of one turn of the event loop share a transaction. A second connection reads the file.

interface Opened extends AsyncDisposable {
  readonly store: Store
  /** What another process would see. */
  readonly reader: Database.Database
  /** Each COMMIT of the store. */
  readonly commits: () => number
  readonly changes: StoreChange[]
  /** Sets how long each write takes by the clock that limits the duration of a transaction. */
  setWriteDuration(ms: number): void
}

async function open(): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-group-'))
  const path = join(folder, 'gatepass.db')
  const { prepare } = Database.prototype
  let commits = 0
  const spy = vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (
    this: Database.Database,
    sql,
  ) {
    const statement = prepare.call(this, sql)
    if (sql === 'commit') {
      const watched = statement as unknown as { run: () => unknown } // COMMIT binds no values
      const run = watched.run.bind(statement)
      watched.run = () => {
        commits++
        return run()
      }
    }
    return statement
  })
  const store = openSqliteStore(path)
  spy.mockRestore()
  // how busy the machine is must not decide how many writes a commit has
  let [now, step] = [0, 0]
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += step
    return now
  })
  const reader = new Database(path)
  const changes: StoreChange[] = []
  store.onChange((change) => void changes.push(change))
  return {
    store,
    reader,
    commits: () => commits,
    changes,
    setWriteDuration(ms) {
      step = ms
    },
    async [Symbol.asyncDispose]() {
      clock.mockRestore()
      await store.close()
      reader.close()
      await rm(folder, { recursive: true })
    },
  }
}

const entriesOf = (reader: Database.Database): readonly string[] =>
  reader.prepare<[], string>('select text from audit_blocks order by first_seq').pluck().all()

const auditOf = (projectId: string, line: string) => ({
  projectId,
  at: 1,
  lines: [line],
  link: () => `hash of ${line}`,
})

test('writes of one turn of the event loop share a commit, in their order, each with its own answer', async () => {
  await using opened = await open()
  const { store, commits, reader } = opened
  const { owner } = await inProject(store)
  const before = commits()

  const begun = await Promise.all(
    Array.from({ length: 20 }, (_, i) => store.authorizations.begin(pending(owner), `share ${i % 10}`, 0)),
  )

  expect(commits() - before).toBe(1)
  // the second of each share got what the first had begun in the same commit
  expect(begun.slice(10).map(({ id }) => id)).toEqual(begun.slice(0, 10).map(({ id }) => id))
  const kept = reader.prepare<[], string>('select id from authorizations order by rowid').pluck().all()
  expect(kept).toEqual(begun.slice(0, 10).map(({ id }) => id))
})

test('a write of a group that fails is rolled back whole, and the others are committed', async () => {
  await using opened = await open()
  const { store, commits, reader, changes } = opened
  const { owner } = await inProject(store)
  const { projectId } = owner
  const [first, second] = [await claimed(store, owner), await claimed(store, owner, { state: 's2' })]
  const before = commits()
  changes.splice(0)
  // its connection can be written, but not its audit entry
  const broken = {
    ...auditOf(projectId, 'second'),
    link: () => {
      throw new Error('no link')
    },
  }
  const finish = (of: typeof first, id: string, audit: ReturnType<typeof auditOf>) =>
    store.authorizations.finishStep(
      of,
      connection(owner, { id, account: { id, name: id } }),
      { makeDefault: false },
      0,
      audit,
    )

  const outcomes = await Promise.allSettled([
    finish(first, 'conn_1', auditOf(projectId, 'first')),
    finish(second, 'conn_2', broken),
    store.authorizations.begin(pending(owner), 'third', 0),
  ])

  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: { status: 'completed' } },
    { status: 'rejected', reason: { message: 'no link' } },
    { status: 'fulfilled', value: { status: 'pending' } },
  ])
  expect(commits() - before).toBe(1)
  expect(reader.prepare('select id from connections').pluck().all()).toEqual(['conn_1'])
  expect(await store.authorizations.find(second.id)).toMatchObject({ status: 'exchanging' })
  expect(entriesOf(reader)).toEqual(['first'])
  expect(changes).toMatchObject([
    { noun: 'connection', id: 'conn_1' },
    { noun: 'authorization', id: first.id },
  ])
  expect(reader.prepare('select change from changes').pluck().all().join()).not.toContain('conn_2')
})

test('a group whose commit fails has written nothing, and each of its callers gets an error', async () => {
  await using opened = await open()
  const { store, reader, changes } = opened
  const { owner } = await inProject(store)
  // SQLite checks this constraint at the commit
  reader.exec(`create table later (id text references facts (name) deferrable initially deferred);
    create trigger fail after insert on authorizations when new.requester = 'fails at the commit'
      begin insert into later values ('no such fact'); end`)
  changes.splice(0)
  const of = (requester: string) => store.authorizations.begin(pending(owner, { requester }), requester, 0)

  const together = await Promise.allSettled([of('one'), of('fails at the commit'), of('another')])

  expect(together).toMatchObject(
    [1, 2, 3].map(() => ({ status: 'rejected', reason: { code: 'already_exists' } })),
  )
  expect(reader.prepare('select count(*) from authorizations').pluck().get()).toBe(0)
  expect(changes).toEqual([])
  await expect(of('one')).resolves.toMatchObject({ status: 'pending' })
})

test('after a group whose commit failed, each change of another process is announced', async () => {
  await using opened = await open()
  const { store, reader, changes } = opened
  const { owner, entry } = await inProject(store)
  const { projectId } = owner
  const held = connection(owner)
  await store.authorizations.finishStep(await claimed(store, owner), held, { makeDefault: false }, 0)
  reader.exec(`create table later (id text references facts (name) deferrable initially deferred);
    create trigger fail after delete on connections begin insert into later values ('no such fact'); end`)
  const { at, link } = auditOf(projectId, 'release')
  const change = (id: string) => ({ noun: 'authorization', id })
  const inOtherProcess = (id: string) =>
    reader
      .prepare("insert into changes (writer, change) values ('another', ?)")
      .run(JSON.stringify(change(id)))
  store.catchUp()
  changes.splice(0)

  inOtherProcess('before')
  // the release looks for changes of others when the deletion beside it has announced its own
  const together = await Promise.allSettled([
    store.connections.delete(held.id),
    store.audit.release([{ projectId, line: 'release', connection: held, entry, rules: [] }], at, link),
  ])
  expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  inOtherProcess('after')
  inOtherProcess('later')
  store.catchUp()

  expect(changes).toEqual(['before', 'after', 'later'].map(change))
})

test('a write is answered after its commit, never before', async () => {
  await using opened = await open()
  const { store, reader, changes } = opened
  const { owner } = await inProject(store)
  const one = await claimed(store, owner)
  changes.splice(0)
  const seen = reader.prepare<[string], string>('select status from authorizations where id = ?').pluck()
  const answers: (string | undefined)[] = []

  reader.exec('begin immediate') // another process writes: no commit before it ends
  const writing = [
    store.authorizations
      .finishStep(one, connection(owner), { makeDefault: false }, 0)
      .then(() => answers.push(seen.get(one.id))),
    store.authorizations.begin(pending(owner), 'other', 0).then(({ id }) => answers.push(seen.get(id))),
  ]
  for (let i = 0; i < 20; i++) await turn()
  expect({ answers, changes }).toEqual({ answers: [], changes: [] })
  reader.exec('rollback')
  await Promise.all(writing)

  expect(answers.sort()).toEqual(['completed', 'pending'])
})

test('a release that shares a commit with the change before it is refused', async () => {
  await using opened = await open()
  const { store, commits } = opened
  const { owner, entry } = await inProject(store)
  const { projectId } = owner
  const one = await claimed(store, owner)
  const held = connection(owner)
  await store.authorizations.finishStep(one, held, { makeDefault: false }, 0)
  const release = (line: string) => {
    const { at, link } = auditOf(projectId, line)
    return store.audit.release([{ projectId, line, connection: held, entry, rules: [] }], at, link)
  }
  expect(await release('before')).toEqual([true])
  const before = commits()

  const [, released] = await Promise.all([store.connections.delete(held.id), release('after')])

  expect(commits() - before).toBe(1)
  expect(released).toEqual([false])
})

test('a transaction takes a bounded number of writes, and no further write when its time is over', async () => {
  await using opened = await open()
  const { store, commits, setWriteDuration } = opened
  const { owner } = await inProject(store)
  const beginMany = async (name: string) => {
    const before = commits()
    const shares = Array.from({ length: 300 }, (_, i) => `${name} ${i}`)
    await Promise.all(shares.map((share) => store.authorizations.begin(pending(owner), share, 0)))
    return commits() - before
  }
  expect(await beginMany('quick')).toBe(3)
  setWriteDuration(2)
  expect(await beginMany('slow')).toBe(150)
})

test('a write at which SQLite rolls back the transaction fails alone; the others are run again', async () => {
  await using opened = await open()
  const { store, reader, changes } = opened
  const { owner } = await inProject(store)
  // what SQLite does when there is no space or memory left within a statement
  reader.exec(`create trigger give_up after insert on authorizations when new.requester = 'gives up'
    begin select raise(rollback, 'given up'); end`)
  changes.splice(0)
  const of = (requester: string) => store.authorizations.begin(pending(owner, { requester }), requester, 0)

  const outcomes = await Promise.allSettled([of('one'), of('gives up'), of('two'), of('three')])

  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  const kept = reader.prepare('select requester from authorizations order by rowid').pluck().all()
  expect(kept).toEqual(['one', 'two', 'three'])
})

test('a write that waits when the store is closed is committed', async () => {
  await using opened = await open()
  const { store, reader } = opened
  const { owner } = await inProject(store)
  const writing = store.authorizations.begin(pending(owner), 'last', 0)
  await store.close()
  const { id } = await writing
  expect(reader.prepare('select id from authorizations').pluck().all()).toEqual([id])
})
