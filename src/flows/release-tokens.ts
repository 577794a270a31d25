import { isDeepStrictEqual } from 'node:util'
import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import type { RequestedUse } from '../domain/requested-use.ts'
import type { CallToApprove } from '../services/call-approvals.ts'
import { type Release, shownConnection } from '../services/release.ts'
import { approve, currentContext } from '../services/request-context.ts'
import { ApprovalMissing } from '../services/use-gate.ts'
import { isUseDue } from '../services/use-log.ts'
import { connectionToolKey } from '../store/connection-tools.ts'
import { approvedConnection, approveUse } from './approve-use.ts'

/** How often tokens may change between look-up and release before the release fails. */
const TRIES = 5

type Releases = readonly [Release, ...Release[]]

/** A use about which people may be asked. */
export interface HeldUse {
  /** What they are shown. May throw: the use is then refused. */
  describe(releases: Releases): ShownUse
  /** The approval once it is spent, which covers all releases of the same use. */
  spent?: SpentApproval
}

export type ShownUse = Omit<CallToApprove, 'projectId' | 'userId' | 'use' | 'needed' | 'connections'>

interface SpentApproval {
  readonly rules: ReadonlySet<string>
  readonly connections: readonly ReturnType<typeof connectionOf>[]
}

/**
 * Looks tokens up and records their release before they are handed out: no token leaves without a durable record. The
 * rules at the time of the record apply: throws `denied_by_policy`, `policy_check_failed`. If the tokens or a
 * precondition of their release have changed in the meantime, the flow looks them up again. Where people must approve
 * first: throws `authorization_required` with the question, and spends their approval before the release.
 */
export async function releaseTokens<Found>(
  broker: Broker,
  lookUp: () => Found | Promise<Found>,
  tokensIn: (found: Found) => readonly Release[],
  held: HeldUse = { describe: handedOut },
): Promise<Found> {
  const release = {}
  for (let tries = 0; tries < TRIES; tries++) {
    const lookedUp = lookUp()
    const found = lookedUp instanceof Promise ? await lookedUp : lookedUp
    const tokens = tokensIn(found)
    if (!isNonEmpty(tokens)) return found
    const { spent } = held
    if (spent !== undefined && !isDeepStrictEqual(tokens.map(connectionOf), spent.connections)) break
    try {
      const check = () => broker.gate.checkRelease(tokens, release)
      const checked = spent === undefined ? check() : approve(spent.rules, check)
      const rules = checked instanceof Promise ? await checked : checked
      if (!(await broker.audit.release(tokens, rules))) continue
      noteTool(broker, tokens)
      return found
    } catch (error) {
      if (!(error instanceof ApprovalMissing)) throw error
      if (spent !== undefined) break
      await spendApproval(broker, error.use, tokens, held)
    }
  }
  throw new BrokerError('store_unavailable', 'The connection keeps changing. Try again shortly.', {
    retryAfter: 1,
  })
}

/** Throws `authorization_required` with the question, unless people have approved the use. */
async function spendApproval(
  broker: Broker,
  use: RequestedUse,
  tokens: Releases,
  held: HeldUse,
): Promise<void> {
  const { projectId, userId } = use
  const needed = (await broker.gate.approvals(projectId))?.matching(use)
  if (needed === undefined || needed.rules.length === 0) return
  const answer = await approveUse(broker, {
    ...held.describe(tokens),
    projectId,
    userId,
    use: use.use,
    needed,
    connections: tokens.map(approvedConnection),
  })
  if (answer.outcome === 'waiting') {
    const { id, url } = answer.approval
    throw new BrokerError('authorization_required', `A person must approve this first, at ${url}`, {
      required: { id, url, scopes: [], status: 'pending' },
    })
  }
  const { requestId = newId('exec') } = currentContext()
  await answer.spend(requestId, async () => {
    held.spent = { rules: answer.rules, connections: tokens.map(connectionOf) }
  })
}

/** What people are shown of tokens that the caller gets. */
function handedOut(releases: Releases): ShownUse {
  const [{ entry }] = releases
  return {
    subject: entry.id,
    title: [...new Set(releases.map((release) => release.entry.provider.displayName))].join(', '),
    // Gatepass does not learn what the caller does with it
    hints: ['destructive', 'open_world'],
    hosts: [],
    input: Object.fromEntries(
      releases.map(({ entry: { id }, connection }) => [
        `scopes.${id}`,
        [...connection.scopes].sort().join(' '),
      ]),
    ),
  }
}

function connectionOf({ connection: { id, scopes } }: Release) {
  return { id, scopes: [...scopes].sort() }
}

/** Notes which tool used which connections, for the user's own page. */
function noteTool({ uses, now }: Broker, tokens: readonly Release[]): void {
  const { tool } = currentContext()
  if (tool === undefined) return
  const at = now()
  for (const release of tokens) {
    const { noted } = release
    if (noted.tool?.id === tool && !isUseDue(noted.tool.at, at)) continue
    noted.tool = { id: tool, at }
    uses.used('connectionTools', connectionToolKey(shownConnection(release), tool), at)
  }
}

function isNonEmpty<T>(all: readonly T[]): all is readonly [T, ...T[]] {
  return all.length > 0
}
