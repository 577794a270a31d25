import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest'
import { ownerBits } from '../../src/domain/ids.ts'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { type Scene, startScene } from '../flows/fixtures.ts'
import { type Answer, type Gatepass, startGatepass } from '../gatepass.ts'
import { freshDatabase, runSql } from '../postgres.ts'
import { until } from '../until.ts'
import { withoutJobs } from '../without-jobs.ts'

/** A database of the distributed form, in which the rows of some owners cannot be reached. */
interface DatabaseWithWorkers extends AsyncDisposable {
  readonly url: string
  /** Statements that touch rows of this user's worker fail from now on, as if it had stopped. */
  stopWorkerOf(userId: string): Promise<void>
  startWorkers(): Promise<void>
  /** Runs SQL that no stopped worker affects. */
  sql(text: string): ReturnType<typeof runSql>
}

/** These users of the project `default` are on workers of their own. */
const USERS = ['ada', 'grace', 'joan']
/** As `workers.ts` divides owners where Citus is absent. */
const workerOf = (projectId: string, userId: string) => ownerBits(projectId, userId).slice(0, 1)

/**
 * PostgreSQL without Citus in place of several servers: a policy of row-level security throws the error of Citus for each
 * row of a stopped worker, whether a statement reads, locks, changes or adds it.
 */
async function databaseWithWorkers(): Promise<DatabaseWithWorkers> {
  const database = await freshDatabase()
  const role = `gatepass_${randomUUID().replaceAll('-', '')}`
  await runSql(database.url, `create role ${role} login password 'of-a-test'`)
  await runSql(
    database.url,
    `do $$ begin execute format('alter database %I owner to ${role}', current_database()); end $$`,
  )
  const url = new URL(database.url)
  url.username = role
  url.password = 'of-a-test'
  const store = await openPostgresStore(url.href, { distribute: 0 })
  let project = await store.projects.ensure('default', 0)
  while (new Set(USERS.map((user) => workerOf(project.id, user))).size < USERS.length) {
    await runSql(database.url, 'delete from projects')
    project = await store.projects.ensure('default', 0)
  }
  await store.close()
  await runSql(
    database.url,
    `create table stopped (worker text primary key);
    grant select on stopped to public;
    create function answers(owner text) returns boolean language plpgsql as $$ begin
      if exists (select from stopped where worker = left(owner, 1)) then
        raise exception 'connection to the remote node worker:5432 failed with the following error: Connection refused'
          using errcode = '08006';
      end if;
      return true;
    end $$;`,
  )
  for (const table of ['connections', 'authorizations'])
    await runSql(
      database.url,
      `alter table ${table} enable row level security, force row level security;
      create policy workers on ${table} using (answers(owner_bits)) with check (answers(owner_bits));`,
    )
  return {
    url: url.href,
    async stopWorkerOf(userId) {
      await runSql(database.url, 'insert into stopped values ($1)', [workerOf(project.id, userId)])
    },
    async startWorkers() {
      await runSql(database.url, 'delete from stopped')
    },
    sql: (text) => runSql(database.url, text),
    async [Symbol.asyncDispose]() {
      const server = new URL(database.url)
      await database[Symbol.asyncDispose]()
      server.pathname = '/postgres'
      await runSql(server.href, `drop role ${role}`)
    },
  }
}

/** For each test of a file, a scene in which ada and grace are connected, on one such database. */
export function sceneWithWorkers(): { readonly scene: Scene; readonly database: DatabaseWithWorkers } {
  let database: DatabaseWithWorkers
  let scene: Scene
  beforeAll(async () => {
    database = await databaseWithWorkers()
  })
  afterAll(() => database[Symbol.asyncDispose]())
  beforeEach(async () => {
    scene = await withoutJobs(() =>
      startScene({ gatepass: { environment: { GATEPASS_DATABASE_URL: database.url } } }),
    )
    for (const user_id of ['ada', 'grace']) await scene.connect({ user_id })
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    await database.startWorkers()
    await until(async () => (await scene.call('DELETE', '/v1/admin/auth_providers/demo')).status < 300)
    await scene[Symbol.asyncDispose]()
  })
  return {
    get scene() {
      return scene
    },
    get database() {
      return database
    },
  }
}

/** Another process on the scene's database. */
export function startProcess(scene: Scene, { url }: Pick<DatabaseWithWorkers, 'url'>): Promise<Gatepass> {
  return withoutJobs(() => startGatepass({ now: scene.clock, environment: { GATEPASS_DATABASE_URL: url } }))
}

/** Another process, which has cached the connections of these users, and has released no token of them. */
export async function processThatHasRead(
  scene: Scene,
  database: Pick<DatabaseWithWorkers, 'url'>,
  users: readonly string[],
): Promise<Gatepass> {
  const process = await startProcess(scene, database)
  for (const user of users) await authorizeAt(process, user, ['write']) // not granted
  return process
}

export function authorizeAt(process: Gatepass, user_id: string, scopes = ['read']): Promise<Answer> {
  return process.call('POST', '/v1/auth/authorize', {
    auth_requirement: { id: 'demo', oauth2: { scopes } },
    user_id,
  })
}

/** Returns a function that returns the names of the statements which were sent since. */
export function watchNames(): () => readonly (string | undefined)[] {
  const sent = vi.spyOn(pg.Client.prototype, 'query')
  return () => sent.mock.calls.map(([asked]) => (asked as { readonly name?: string } | undefined)?.name)
}
