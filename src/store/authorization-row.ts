import type {
  Attempt,
  Authorization,
  Completed,
  Confirmed,
  Confirming,
  Exchanging,
  Failed,
  Pending,
} from '../domain/authorization.ts'
import type { Tables } from './schema.ts'
import type { ById, Present } from './statement.ts'

/** One row holds every state of an authorization; a state's own members are absent in the others. */
export type AuthorizationRow = Present<Tables['authorizations']['$inferSelect']>

/** The statuses of an authorization that has not ended. */
export const UNSETTLED = ['pending', 'confirming', 'confirmed', 'exchanging'] as const

/** The statuses from which a click may start an attempt: no code is being redeemed. */
export const STARTABLE = ['pending', 'confirming', 'confirmed'] as const

/** The columns of a row whose provider is not asked for the tokens of a device code. */
export const NO_POLL = { pollAt: null, pollSeconds: null, leaseOwner: null, leaseUntil: null } as const

/** The columns of a row without an attempt. */
export const NO_ATTEMPT = {
  ...NO_POLL,
  stateHash: null,
  browserHash: null,
  secrets: null,
  startedAt: null,
  flowHash: null,
  response: null,
  deadline: null,
  claimedBy: null,
} as const

/**
 * The columns of a row whose response was deleted after its deadline. The row keeps the hashes of the browser and of its
 * visit to the verifier page.
 */
export const NO_RESPONSE = {
  ...NO_POLL,
  stateHash: null,
  secrets: null,
  startedAt: null,
  response: null,
  deadline: null,
  status: 'pending',
} as const

/** The columns of a settled row: no secret, but still the hashes, so that a late browser is shown the outcome. */
export const SETTLED = {
  ...NO_POLL,
  shareKey: null,
  secrets: null,
  response: null,
  deadline: null,
  claimedBy: null,
} as const

export function toAuthorization(row: AuthorizationRow): Authorization {
  const common = {
    id: row.id,
    projectId: row.projectId,
    userId: row.userId,
    steps: row.steps,
    step: row.step,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    requester: row.requester,
    account: row.account,
    nextUri: row.nextUri,
    userDisplay: row.userDisplay,
    lang: row.lang,
    connectSessionId: row.connectSessionId,
  }
  const flow = row.flowHash !== undefined && { flowHash: row.flowHash }
  const browser = row.browserHash !== undefined && { browserHash: row.browserHash }
  const attempt = toAttempt(row)
  switch (row.status) {
    case 'pending':
      return {
        ...common,
        ...flow,
        status: 'pending',
        ...(attempt && { attempt }),
        ...(row.response !== undefined && { granted: row.response }),
      } satisfies Pending
    case 'confirming':
    case 'confirmed':
      return {
        ...common,
        status: row.status,
        attempt: required(attempt, row),
        flowHash: required(row.flowHash, row),
        response: required(row.response, row),
        deadline: row.deadline ?? row.expiresAt,
      } satisfies Confirming | Confirmed
    case 'exchanging':
      return {
        ...common,
        ...flow,
        status: 'exchanging',
        attempt: required(attempt, row),
        deadline: required(row.deadline, row),
      } satisfies Exchanging
    case 'completed':
      return {
        ...common,
        ...flow,
        ...browser,
        status: 'completed',
        completedAt: required(row.completedAt, row),
      } satisfies Completed
    case 'failed':
      return {
        ...common,
        ...flow,
        ...browser,
        status: 'failed',
        reason: required(row.reason, row),
        message: row.message ?? '',
        completedAt: required(row.completedAt, row),
      } satisfies Failed
  }
}

function toAttempt(row: AuthorizationRow): Attempt | undefined {
  const { stateHash, browserHash, secrets, startedAt, pollAt, pollSeconds } = row
  if (
    stateHash === undefined ||
    browserHash === undefined ||
    secrets === undefined ||
    startedAt === undefined
  )
    return undefined
  return {
    ...{ stateHash, browserHash, secrets, startedAt },
    ...(pollAt !== undefined && { pollAt }),
    ...(pollSeconds !== undefined && { pollSeconds }),
  }
}

function required<T>(value: T | undefined, { id, status }: AuthorizationRow): T {
  if (value === undefined) throw new Error(`authorization ${id} is ${status} but lacks a value of that state`)
  return value
}

/** The announcement of an authorization that was written. */
export const authorizationChange = ({ id }: ById) => ({ noun: 'authorization', id }) as const
