import { randomUUID } from 'node:crypto'
import { copyRows } from '../src/store/copy.ts'
import { openSource, openTarget } from '../src/store/open-copy.ts'
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

/** One more of the same. */
export async function copyDatabase({ url: server }: PostgresCluster, template: string): Promise<string> {
  const { name, url } = newDatabase(server)
  await runSql(server, `create database ${name} template ${new URL(template).pathname.slice(1)}`)
  return url
}

function newDatabase(server: string): { readonly name: string; readonly url: string } {
  const name = `bench_${randomUUID().replaceAll('-', '')}`
  return { name, url: Object.assign(new URL(server), { pathname: `/${name}` }).href }
}
