import { fetchStatus, isServing } from '../diagnosis/is-serving.ts'
import type { Authorization } from '../domain/authorization.ts'
import { databaseName } from '../store/database-location.ts'
import { CommandFailure, EXIT } from './failure.ts'
import type { LocalInstallation } from './installation.ts'

/** Throws `CommandFailure` unless a server runs at the public URL and uses this database. Otherwise the printed link would fail. */
export async function requireServer(
  { config }: LocalInstallation,
  authorization: Pick<Authorization, 'id'>,
): Promise<void> {
  const { publicUrl, connectPage, database } = config
  if (!(await isServing(publicUrl)))
    throw new CommandFailure(
      `No Gatepass answers at ${publicUrl.origin}: start it in another terminal (npm start or gatepass serve), then run this again.`,
      EXIT.unreachable,
    )
  if (connectPage === 'pass') return // a request would count as the user's click
  const link = await fetchStatus(new URL(`/connect/${authorization.id}`, publicUrl))
  if (link === 404)
    throw new CommandFailure(
      `The Gatepass at ${publicUrl.origin} uses a different database from ${databaseName(database)}: set GATEPASS_DATABASE_URL to its database, or GATEPASS_PUBLIC_URL to the server that uses this one.`,
      EXIT.usage,
    )
}
