import type { Authorization } from '../domain/authorization.ts'
import { connectUrl } from '../flows/begin-authorization.ts'
import { CommandFailure } from './shell.ts'
import type { Opened } from './with-broker.ts'

const PATIENCE_MS = 2_000

/** Whether a Gatepass answers at the public URL. Asked directly: that URL is this installation's own. */
export async function isServing(publicUrl: URL): Promise<boolean> {
  return (await ask(new URL('/health', publicUrl)))?.ok === true
}

/** A server must be there to receive the browser, and on this database, or the link leads nowhere. */
export async function requireServer(
  { broker, config }: Opened,
  authorization: Pick<Authorization, 'id'>,
): Promise<void> {
  const { publicUrl, connectPage, databasePath } = config
  if (!(await isServing(publicUrl)))
    throw new CommandFailure(
      `No Gatepass answers at ${publicUrl.origin}: start it in another terminal (npm start, or gatepass serve), then run this again.`,
    )
  if (connectPage === 'pass') return // looking would count as the user's click
  const link = await ask(new URL(connectUrl(broker, authorization)))
  if (link?.status === 404)
    throw new CommandFailure(
      `The Gatepass at ${publicUrl.origin} uses another database than ${databasePath}: set GATEPASS_DATABASE_URL to its database, or GATEPASS_PUBLIC_URL to the server of this one.`,
    )
}

async function ask(url: URL): Promise<{ readonly ok: boolean; readonly status: number } | undefined> {
  try {
    const { ok, status, body } = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    await body?.cancel()
    return { ok, status }
  } catch {
    return undefined
  }
}
