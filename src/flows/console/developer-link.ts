import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { isLoopbackHost } from '../../domain/confidential-url.ts'
import { randomToken, sha256 } from '../../domain/ids.ts'
import { logInWithKey } from './console-session.ts'

// The link that `gatepass dev` prints, which logs the developer's browser in to the console. This process alone knows its
// ticket, by its hash, and only the newest link is valid. Opening the link does not spend it, because terminals and
// editors fetch links to show a preview: the button of its page does.

/** The page that a link opens. */
export const ENTER_PATH = '/dashboard/enter'
/** How long a link is valid. */
const VALID_SECONDS = 600

export interface DeveloperLink {
  /** Makes a link that leads to the path `next` below `/dashboard`. The link before is no longer valid. */
  renew(next?: string): string
  isValid(ticket: string | undefined): boolean
  /** Spends the link and begins a session of the API key; `undefined` if it was spent, replaced or has expired. */
  enter(
    ticket: string | undefined,
    options: { readonly replaces: string | undefined },
  ): Promise<{ readonly token: string; readonly seconds: number } | undefined>
}

/** @param apiKey an administrator's, in whose name the developer acts */
export function developerLink(broker: Broker, apiKey: string): DeveloperLink {
  let newest: { readonly hash: string; readonly expiresAt: EpochSeconds } | undefined
  const isValid = (ticket = '') =>
    newest !== undefined && sha256(ticket) === newest.hash && broker.now() < newest.expiresAt
  return {
    renew(next = '') {
      const ticket = randomToken()
      newest = { hash: sha256(ticket), expiresAt: broker.now() + VALID_SECONDS }
      const url = new URL(ENTER_PATH, broker.settings.publicUrl)
      url.searchParams.set('ticket', ticket)
      if (next !== '') url.searchParams.set('next', next)
      return url.href
    },
    isValid,
    async enter(ticket, options) {
      if (!isValid(ticket)) return undefined
      newest = undefined
      return logInWithKey(broker, apiKey, { ...options, purpose: `POST ${ENTER_PATH}` })
    },
  }
}

/** Whether links are made: only where this machine alone reaches the server, and its users at a loopback URL. */
export function isForThisMachine({
  host,
  publicUrl,
}: {
  readonly host: string
  readonly publicUrl: URL
}): boolean {
  return isLoopbackHost(host === '::1' ? '[::1]' : host) && isLoopbackHost(publicUrl.hostname)
}
