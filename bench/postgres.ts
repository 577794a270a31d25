import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { COPIED_TABLES, copyRows } from '../src/copying/copy-rows.ts'
import { openSource, openTarget } from '../src/copying/open.ts'
import { type PostgresCluster, runSql } from '../test/postgres-cluster.ts'

/** A new database with everything that is in the SQLite file, as `gatepass migrate --to` makes it. */
export async function copyToPostgres({ url: server }: PostgresCluster, file: string): Promise<string> {
  const { name, url } = newDatabase(server)
  await runSql(server, `create database ${name}`)
  await using source = await openSource({ kind: 'sqlite', path: file })
  await using target = await openTarget({ kind: 'postgres', url })
  await copyRows(source, target)
  await target.commit()
  await source.finish()
  await runSql(url, 'vacuum analyze')
  return url
}

/** A copy of a database that `copyToPostgres` made. */
export async function copyDatabase({ url: server }: PostgresCluster, template: string): Promise<string> {
  const { name, url } = newDatabase(server)
  await runSql(server, `create database ${name} template ${new URL(template).pathname.slice(1)}`)
  return url
}

const BATCH = 1_000

/** Adds the connections of the SQLite file whose users are like `usersLike`, by COPY from a file that the server reads. */
export async function copyConnections(url: string, from: string, usersLike: string): Promise<void> {
  const columns = COPIED_TABLES.find(({ name }) => name === 'connections')?.columns ?? []
  const names = columns.map(({ name }) => name).join()
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-copy-'))
  await chmod(folder, 0o755) // the server's user reads it
  const path = join(folder, 'connections')
  const file = createWriteStream(path)
  const database = new Database(from, { readonly: true })
  const rows = database
    .prepare(`select ${names} from connections where user_id like ?`)
    .raw()
    .iterate(usersLike)
  let lines: string[] = []
  for (const row of rows as IterableIterator<readonly unknown[]>) {
    lines.push(`${row.map((value) => value ?? '\\N').join('\t')}\n`)
    if (lines.length < BATCH) continue
    if (!file.write(lines.join(''))) await once(file, 'drain')
    lines = []
  }
  file.end(lines.join(''))
  await once(file, 'finish')
  database.close()
  await runSql(url, `copy connections (${names}) from '${path}'`)
  await rm(folder, { recursive: true })
  await runSql(url, 'vacuum analyze')
}

function newDatabase(server: string): { readonly name: string; readonly url: string } {
  const name = `bench_${randomUUID().replaceAll('-', '')}`
  return { name, url: Object.assign(new URL(server), { pathname: `/${name}` }).href }
}
