import { createHmac, hkdfSync } from 'node:crypto'
import { isExpired } from '../domain/api-key.ts'
import type { AuditAnchor, AuditEvent } from '../domain/audit.ts'
import type { Clock } from '../domain/clock.ts'
import type { Connection } from '../domain/connection.ts'
import { BrokerError } from '../domain/errors.ts'
import type { SharedConnection } from '../domain/shared-connection.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import type { AuditEntries, AuditLink } from '../store/audit-entries.ts'
import { type AuditedRelease, confirmed, type RulesVersion } from '../store/audit-trail.ts'
import type { Store } from '../store/store.ts'
import { type ReleaseTexts, userOf } from './release.ts'
import { currentContext, type RequestContext } from './request-context.ts'

/** The most calls of `release` in one commit. A call may release several tokens. */
const BATCH = 500
/** The most calls of `release` that may wait for a commit. Further calls are refused. */
const MAX_WAITING = 50_000
/**
 * Callers whose releases shared a commit often ask again at the same moment. So after a commit of at least `LARGE_COMMIT`
 * calls, the next commit waits for as many, as long as they arrive at most `MAX_GAP_MS` apart. Without the wait, the
 * first call would get its own commit, which costs twice as much.
 */
const LARGE_COMMIT = 8
const MAX_GAP_MS = 0.1

/** A token that is about to be handed out. */
export interface AuditedToken {
  readonly connection: Connection
  readonly entry: ProviderEntry
  /** The user for whom a connection of the project is used. */
  readonly actingFor?: string | undefined
  readonly shared?: SharedConnection | undefined
  /** As in `Release`. */
  readonly shownAs?: string | undefined
  /** `AuditLog.fingerprint` of the access token. */
  readonly fingerprint: string
  readonly texts: Pick<ReleaseTexts, 'audited'>
}

/** Writes the audit trail for the flows. Actor, purpose and request id come from the request's context. */
export interface AuditLog {
  /** The audit entry of a write, which the store commits in the same transaction. */
  of(projectId: string, event: AuditEvent): AuditEntries
  /** Records an event that belongs to no write. */
  record(projectId: string, event: AuditEvent): Promise<void>
  /**
   * Records that the tokens are released. Resolves with `true` if they may be handed out; with `false` if a
   * precondition has changed, and the caller must look the tokens up and ask the gate again. In that case the
   * trail may have entries for some of the tokens: those whose preconditions still held. Concurrent releases share one
   * commit. Throws `invalid_authorization` when the key was revoked or has expired in the meantime,
   * `store_unavailable` when nothing can be recorded.
   */
  release(tokens: readonly AuditedToken[], rules: readonly RulesVersion[]): Promise<boolean>
  /** A keyed hash of a token: distinguishes tokens without revealing anything about them. */
  fingerprint(token: string): string
  /** Computes the keyed hash of a block. */
  readonly link: AuditLink
  /** Computes the MAC of an anchor, which only this installation can do. */
  anchorMac(anchor: Omit<AuditAnchor, 'mac'>): string
  /** How many calls of `release` wait for their commit. */
  readonly waiting: number
}

interface Waiting {
  readonly releases: readonly AuditedRelease[]
  readonly resolve: (areRecorded: boolean) => void
  readonly reject: (error: unknown) => void
}

/** `key`: the installation's key, 32 bytes, which a rotation of the master key does not change. */
export function createAuditLog(store: Store, key: Buffer, now: Clock): AuditLog {
  const chainKey = derive(key, 'chain')
  const anchorKey = derive(key, 'anchor')
  const fingerprintKey = derive(key, 'fingerprint')
  const link: AuditLink = ({ projectId, firstSeq, count, at, text, previous }) =>
    createHmac('sha256', chainKey)
      .update(JSON.stringify([previous, projectId, firstSeq, count, at]))
      .update(text)
      .digest('base64url')

  let queue: Waiting[] = []
  let waiting = 0
  let isScheduled = false
  let lastSize = 0

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    // releases of the same turn of the event loop share one commit
    setImmediate(gather, 0, 0)
  }

  /** Commits the queue, or checks again in the next turn of the event loop whether it has grown. */
  function gather(previousLength: number, grownAt: number): void {
    const { length } = queue
    const at = performance.now()
    const isGrowing = length !== previousLength || at - grownAt <= MAX_GAP_MS
    if (lastSize < LARGE_COMMIT || length >= lastSize || !isGrowing) void commit()
    else setImmediate(gather, length, length === previousLength ? grownAt : at)
  }

  async function commit(): Promise<void> {
    const batch = queue.slice(0, BATCH)
    lastSize = batch.length
    queue = queue.length > BATCH ? queue.slice(BATCH) : []
    try {
      const recorded = await store.audit.release(
        batch.flatMap((entry) => entry.releases),
        now(),
        link,
      )
      let first = 0
      for (const { releases, resolve } of batch) {
        resolve(recorded.slice(first, first + releases.length).every(Boolean))
        first += releases.length
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    waiting -= batch.length
    isScheduled = false
    if (queue.length > 0) schedule()
  }

  return {
    link,
    of: (projectId, event) => ({
      projectId,
      at: now(),
      lines: [eventLine(event, currentContext(), now())],
      link,
    }),
    async record(projectId, event) {
      await store.audit.append(this.of(projectId, event))
    },
    anchorMac: ({ projectId, firstSeq, lastSeq, hash, at }) =>
      createHmac('sha256', anchorKey)
        .update(JSON.stringify([projectId, firstSeq, lastSeq, hash, at]))
        .digest('base64url'),
    async release(tokens, rules) {
      if (waiting >= MAX_WAITING)
        throw new BrokerError('store_unavailable', 'Too many releases wait for the audit trail. Try again.', {
          retryAfter: 1,
        })
      const context = currentContext()
      const { apiKey, onlyUser } = context
      // the last check before any token is released; the flows have already refused requests for other users
      if (onlyUser !== undefined && tokens.some((token) => userOf(token) !== onlyUser))
        throw new BrokerError(
          'user_not_allowed',
          'The request acts for a different user from the one whose token it needs.',
        )
      const at = now()
      const releases = await confirmed(
        store.audit,
        tokens.map((token) => toRelease(token, rules, context, at)),
      )
      const isRecorded = await new Promise<boolean>((resolve, reject) => {
        queue.push({ releases, resolve, reject })
        waiting++
        schedule()
      })
      if (!isRecorded && apiKey !== undefined) {
        const key = await store.apiKeys.findByHash(apiKey.hash)
        if (key === undefined) throw new BrokerError('invalid_authorization', 'This API key was revoked.')
        if (isExpired(key, now())) throw new BrokerError('invalid_authorization', 'This API key has expired.')
      }
      return isRecorded
    },
    fingerprint: (token) =>
      createHmac('sha256', fingerprintKey).update(token).digest('base64url').slice(0, 22),
    get waiting() {
      return waiting
    },
  }
}

function derive(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `gatepass/audit/${purpose}`, 32))
}

function toRelease(
  token: AuditedToken,
  rules: readonly RulesVersion[],
  context: RequestContext,
  at: number,
): AuditedRelease {
  const { connection, entry, shared } = token
  const { apiKey } = context
  const line = releaseLine(token, context, at)
  const release = { projectId: connection.projectId, line, connection, entry, rules, shared }
  return apiKey === undefined ? release : { ...release, apiKey }
}

/** The line of a release. The members of the connection are cached, because nearly every request writes them. */
function releaseLine(
  { connection, entry, fingerprint, texts, actingFor, shownAs }: AuditedToken,
  context: RequestContext,
  at: number,
): string {
  texts.audited ??= JSON.stringify({
    user_id: actingFor ?? connection.userId,
    provider_id: entry.id,
    connection_id: shownAs ?? connection.id,
    subject: entry.provider.impersonation && connection.account.name,
    owner: actingFor === undefined ? undefined : 'project',
  }).slice(1, -1)
  const ofTool = context.tool === undefined ? '' : `,"tool":${JSON.stringify(context.tool)}`
  const members = `${texts.audited}${ofTool},"fingerprint":${JSON.stringify(fingerprint)}`
  return toLine('token.released', members, context, at)
}

/** The line of an event. Members are listed one by one, so that a new member is not recorded by accident. */
function eventLine(event: AuditEvent, context: RequestContext, at: number): string {
  const members = JSON.stringify({
    user_id: event.userId,
    provider_id: event.providerId,
    connection_id: event.connectionId,
    authorization_id: event.authorizationId,
    subject: event.subject,
    tool: event.tool,
    scopes: event.scopes,
    reason: event.reason,
    detail: event.detail,
    approval: event.approval,
    fingerprint: event.fingerprint,
  }).slice(1, -1)
  return toLine(event.action, members, context, at)
}

/** One line of a block. `members`: those of the event, as JSON without braces. */
function toLine(
  action: AuditEvent['action'],
  members: string,
  { actor, purpose, requestId }: RequestContext,
  at: number,
): string {
  const about = members === '' ? '' : `,${members}`
  const why = purpose === undefined ? '' : `,"purpose":${JSON.stringify(purpose)}`
  const request = requestId === undefined ? '' : `,"request_id":${JSON.stringify(requestId)}`
  return `{"at":${at},"action":"${action}","actor":${JSON.stringify(actor)}${about}${why}${request}}`
}
