import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import { randomToken, sha256 } from '../../domain/ids.ts'
import { allowedNextUri } from '../../flows/acquire-tokens.ts'
import { BY_TICKET, beginPageSession } from '../../flows/page-session.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import type { PortalRight, PortalTicket } from './domain.ts'

// A caller's one-time link to the user's own page. The ticket is in the link's query. Opening the link does not spend
// the ticket, because scanners of mails and chats open links too. It shows a page that names the user, and the button
// of that page spends the ticket.

export const PORTAL_PATH = '/me'
/** The page that a link opens. */
export const ENTER_PATH = '/me/enter'

const PREFIX = 'gpp_'

export interface PortalLinkRequest {
  readonly projectId: string
  readonly userId: string
  readonly may: readonly PortalRight[]
  /** How long the link is valid. */
  readonly seconds: number
  readonly userDisplay?: string | null | undefined
  readonly returnUrl?: string | null | undefined
  readonly lang?: string | null | undefined
}

export interface PortalLink {
  readonly url: string
  readonly expiresAt: EpochSeconds
}

/** Makes a link. Throws `invalid_request` for a `returnUrl` that is not allowed as a `next_uri`. */
export async function createPortalLink(broker: Broker, request: PortalLinkRequest): Promise<PortalLink> {
  const { projectId, userId, may, seconds, userDisplay, returnUrl, lang } = request
  const random = randomToken()
  const createdAt = broker.now()
  const expiresAt = createdAt + seconds
  const allowed = withoutUndefined({
    projectId,
    userId,
    may,
    userDisplay: userDisplay ?? undefined,
    returnUrl: returnUrl == null ? undefined : allowedNextUri(broker, projectId, returnUrl, 'return_url'),
    lang: lang ?? undefined,
    createdAt,
    expiresAt,
  })
  const ticket = PREFIX + random + broker.confirmations.proofOf(subjectOf(random, allowed))
  const stored: PortalTicket = { hash: sha256(ticket), ...allowed }
  const audit = broker.audit.of(projectId, { action: 'portal.linked', userId, scopes: may })
  await broker.store.portalTickets.add(stored, audit)
  await broker.sites.settled()
  const url = new URL(ENTER_PATH, broker.usersUrl(projectId))
  url.searchParams.set('ticket', ticket)
  return { url: url.href, expiresAt }
}

/** The ticket of a link, if it was not spent and has not expired. */
export async function findPortalTicket(
  broker: Broker,
  ticket: string | null | undefined,
): Promise<PortalTicket | undefined> {
  const [, random, proof] = TICKET.exec(ticket ?? '') ?? []
  if (random === undefined || proof === undefined) return undefined
  const found = await broker.store.portalTickets.find(sha256(PREFIX + random + proof), broker.now())
  return found && broker.confirmations.isProof(proof, subjectOf(random, found)) ? found : undefined
}

/** A random part, and the proof that this installation made the ticket for exactly the members of the row. */
const TICKET = /^gpp_([\w-]{43})([\w-]{43})$/

/** The subject of a ticket's proof. It contains brackets, which no flow hash has, so the proofs cannot be confused. */
function subjectOf(
  random: string,
  { projectId, userId, may, userDisplay, returnUrl, lang, expiresAt }: Omit<PortalTicket, 'hash'>,
): string {
  const parts = [random, projectId, userId, may.join(' '), userDisplay, returnUrl, lang, expiresAt]
  return JSON.stringify(['portal ticket', ...parts.map((part) => part ?? null)])
}

/**
 * Spends the ticket and begins the session that it allows. `undefined` if the ticket was spent or has expired.
 *
 * @param how.replaces the token of the session that the browser had until now.
 */
export async function enterPortal(
  broker: Broker,
  ticket: string | null | undefined,
  how: { readonly replaces?: string | undefined },
): Promise<{ readonly token: string; readonly seconds: number } | undefined> {
  const found = await findPortalTicket(broker, ticket)
  if (found === undefined) return undefined
  const { projectId, userId, may, userDisplay, returnUrl, lang } = found
  const audit = broker.audit.of(projectId, { action: 'portal.entered', userId, reason: BY_TICKET })
  const spent = await broker.store.portalTickets.spend(found.hash, broker.now(), audit)
  if (spent === undefined) return undefined
  return beginPageSession(broker, {
    kind: 'me',
    projectId,
    subject: userId,
    may,
    authority: BY_TICKET,
    display: userDisplay,
    returnUrl,
    lang,
    ...how,
  })
}

/** The id of the project for users who open `/me` without a link: the `named` one, else that of `/mcp`. Throws `not_found`. */
export async function portalProject(broker: Broker, named: string | undefined): Promise<string> {
  const project = await broker.store.projects.findByName(named ?? broker.settings.mcp.project)
  if (project === undefined) throw new BrokerError('not_found', 'There is no such page.')
  return project.id
}

/** Deletes tickets that have expired. */
export function sweepPortalTickets({ store, now }: Broker): Promise<unknown> {
  return store.portalTickets.sweep(now())
}
