import type { Authorization } from '../domain/authorization.ts'
import { connectUrl } from '../flows/begin-authorization.ts'
import { createOutgoing, OutgoingError } from '../providers/outgoing.ts'
import { databaseName } from '../store/database-place.ts'
import { CommandFailure, EXIT } from './failure.ts'
import type { Opened } from './with-broker.ts'

const PATIENCE_MS = 2_000

/** Whether a Gatepass answers at the public URL. */
export async function isServing(publicUrl: URL): Promise<boolean> {
  return (await ask(new URL('/health', publicUrl))) === 200
}

/** A server must be there to receive the browser, and on this database, or the link leads nowhere. */
export async function requireServer(
  { broker, config }: Opened,
  authorization: Pick<Authorization, 'id'>,
): Promise<void> {
  const { publicUrl, connectPage, database } = config
  if (!(await isServing(publicUrl)))
    throw new CommandFailure(
      `No Gatepass answers at ${publicUrl.origin}: start it in another terminal (npm start, or gatepass serve), then run this again.`,
      EXIT.unreachable,
    )
  if (connectPage === 'pass') return // looking would count as the user's click
  const link = await ask(new URL(connectUrl(broker, authorization)))
  if (link === 404)
    throw new CommandFailure(
      `The Gatepass at ${publicUrl.origin} uses another database than ${databaseName(database)}: set GATEPASS_DATABASE_URL to its database, or GATEPASS_PUBLIC_URL to the server of this one.`,
      EXIT.usage,
    )
}

/** The status of the answer, if one comes. The host is allowed whatever it is: it is this installation's own. */
async function ask(url: URL): Promise<number | undefined> {
  const outgoing = createOutgoing({ allowedHosts: [url.host] })
  try {
    return (await outgoing.send({ url, deadlineMs: PATIENCE_MS })).status
  } catch (error) {
    if (error instanceof OutgoingError) return undefined
    throw error
  } finally {
    await outgoing.close()
  }
}
