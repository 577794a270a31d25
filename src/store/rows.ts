import type {
  Attempt,
  Authorization,
  Completed,
  Confirmed,
  Confirming,
  Exchanging,
  Failed,
  Pending,
  Step,
} from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Connection } from '../domain/connection.ts'
import { BrokerError } from '../domain/errors.ts'
import type { ExecutionRecord } from '../domain/execution.ts'
import type { Policy } from '../domain/policy.ts'
import type { Tool } from '../domain/tool.ts'
import type { Worker } from '../domain/worker.ts'
import type { ProviderEntry } from '../providers/provider.ts'
import type { ConnectionOwner } from './grants.ts'
import { policyUid } from './sealed-columns.ts'
import type { authorizations, connections, executions, policies, tools } from './sqlite/schema.ts'

/** Rows to nouns and back. Both schemas have the same columns, so this is one for both. */

export type AuthorizationRow = typeof authorizations.$inferSelect
export type ConnectionRow = typeof connections.$inferSelect
export type ToolRow = typeof tools.$inferSelect
export type PolicyRow = typeof policies.$inferSelect
export type ExecutionRow = typeof executions.$inferSelect

/** Drops the members a row has as NULL, so that absent is absent. */
export function present<Row extends Record<string, unknown>>(
  row: Row,
): { [K in keyof Row as null extends Row[K] ? never : K]: Row[K] } & {
  [K in keyof Row as null extends Row[K] ? K : never]?: Exclude<Row[K], null>
} {
  const entries = Object.entries(row).filter(([, value]) => value !== null)
  return Object.fromEntries(entries) as ReturnType<typeof present<Row>> // only the NULLs are gone
}

/** Every column by name: drizzle leaves out what is `undefined`, which would keep the old value. */
export function providerRow(entry: ProviderEntry) {
  return {
    ...entry,
    wellKnownId: entry.wellKnownId ?? null,
    description: entry.description ?? null,
    externalId: entry.externalId ?? null,
    clientId: entry.clientId ?? null,
    clientSecret: entry.clientSecret ?? null,
    mac: entry.mac ?? null,
  }
}

export function workerRow(worker: Worker) {
  const { accepted: _, acceptedMac: __, ...rest } = worker
  return {
    ...rest,
    syncedAt: worker.syncedAt ?? null,
    syncError: worker.syncError ?? null,
    unreachableSince: worker.unreachableSince ?? null,
    mac: worker.mac ?? null,
  }
}

export function toolRow(tool: Tool) {
  return {
    ...tool,
    version: tool.version ?? '',
    outputSchema: tool.outputSchema ?? null,
    annotations: tool.annotations ?? null,
    meta: tool.meta ?? null,
    icons: tool.icons ?? null,
    binding: tool.binding ?? null,
    workerUid: tool.source.kind === 'worker' ? tool.source.workerUid : null,
  }
}

export function toTool({ workerUid, version, ...row }: ToolRow): Tool {
  return { ...present(row), ...(version !== '' && { version }) }
}

export function policyRow(policy: Policy) {
  return {
    ...policy,
    uid: policyUid(policy.id, policy.projectId),
    description: policy.description ?? null,
    hook: policy.hook ?? null,
    hookSecret: policy.hookSecret ?? null,
    mac: policy.mac ?? null,
  }
}

export function toPolicy({ uid: _, ...row }: PolicyRow): Policy {
  return present(row)
}

/** How a claimed run ended. Its request stays as it stands: it may have been sealed anew meanwhile. */
export function settledRow(record: ExecutionRecord) {
  return {
    status: record.status,
    outcome: record.outcome ?? null,
    errorKind: record.errorKind ?? null,
    runAt: record.runAt ?? null,
    updatedAt: record.updatedAt,
    startedAt: record.startedAt ?? null,
    finishedAt: record.finishedAt ?? null,
    durationMs: record.durationMs ?? null,
    attempts: record.attempts,
    ...(record.result !== undefined && { result: record.result }),
    leaseOwner: null,
    leaseUntil: null,
  }
}

export function toExecution({ leaseOwner: _, leaseUntil: __, ...row }: ExecutionRow): ExecutionRecord {
  return present(row)
}

/** A run that came due while the installation was lost: it may have been carried out then, and twice is worse than not. */
export const NOT_RUN_AGAIN = {
  status: 'failed',
  outcome: 'error',
  errorKind: 'UNKNOWN',
  leaseOwner: null,
  leaseUntil: null,
} as const

/** What an update answers is in no order. */
export function earliestFirst(a: ExecutionRecord, b: ExecutionRecord): number {
  return (a.runAt ?? 0) - (b.runAt ?? 0) || (a.id < b.id ? -1 : 1)
}

export function ownerOf({ projectId, providerUid, userId }: ConnectionOwner): ConnectionOwner {
  return { projectId, providerUid, userId }
}

export function toConnection(row: ConnectionRow): Connection {
  const { accountId, accountName, leaseOwner, leaseUntil, ...rest } = row
  return { ...present(rest), account: { id: accountId, name: accountName } }
}

export const NO_ATTEMPT = {
  stateHash: null,
  browserHash: null,
  secrets: null,
  startedAt: null,
  flowHash: null,
  response: null,
  deadline: null,
  claimedBy: null,
} as const

/** A response that was held for too long is dropped; which browser and which visit of a verifier page it was stays known. */
export const NO_RESPONSE = {
  stateHash: null,
  secrets: null,
  startedAt: null,
  response: null,
  deadline: null,
  status: 'pending',
} as const

/** The statuses of an authorization that may still come to an end. */
export const UNSETTLED = ['pending', 'confirming', 'confirmed', 'exchanging'] as const

/** A settled authorization keeps the hashes, so that a late browser is shown the end, and no secret. */
export const SETTLED = {
  shareKey: null,
  secrets: null,
  response: null,
  deadline: null,
  claimedBy: null,
} as const

/** Throws `too_many_pending` when `most` live ones of the user have one of the providers already. */
export function refuseMore(
  fresh: Pending,
  live: readonly Pick<AuthorizationRow, 'steps' | 'expiresAt'>[],
  now: EpochSeconds,
  most: number,
): void {
  for (const { providerUid } of fresh.steps) {
    const rivals = live.filter(({ steps }) => steps.some((step) => step.providerUid === providerUid))
    if (rivals.length < most) continue
    const next = Math.min(now + LONGEST_RETRY_SECONDS, ...rivals.map(({ expiresAt }) => expiresAt))
    throw new BrokerError(
      'too_many_pending',
      'Too many authorizations are pending. Let users finish theirs, or wait until some expire.',
      { retryAfter: Math.max(next - now, 1) },
    )
  }
}

const LONGEST_RETRY_SECONDS = 60

export function withConnection(steps: readonly Step[], step: number, connectionId: string): readonly Step[] {
  return steps.map((one, i) => (i === step ? { ...one, connectionId } : one))
}

export function toAuthorization(row: AuthorizationRow): Authorization {
  const common = {
    id: row.id,
    projectId: row.projectId,
    userId: row.userId,
    steps: row.steps,
    step: row.step,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    ...(row.requester !== null && { requester: row.requester }),
    ...(row.account !== null && { account: row.account }),
    ...(row.nextUri !== null && { nextUri: row.nextUri }),
  }
  const flow = row.flowHash !== null && { flowHash: row.flowHash }
  const browser = row.browserHash !== null && { browserHash: row.browserHash }
  const attempt = toAttempt(row)
  switch (row.status) {
    case 'pending':
      return { ...common, ...flow, status: 'pending', ...(attempt && { attempt }) } satisfies Pending
    case 'confirming':
    case 'confirmed':
      return {
        ...common,
        status: row.status,
        attempt: filled(attempt, row),
        flowHash: filled(row.flowHash, row),
        response: filled(row.response, row),
        deadline: row.deadline ?? row.expiresAt,
      } satisfies Confirming | Confirmed
    case 'exchanging':
      return {
        ...common,
        ...flow,
        status: 'exchanging',
        attempt: filled(attempt, row),
        deadline: filled(row.deadline, row),
      } satisfies Exchanging
    case 'completed':
      return {
        ...common,
        ...flow,
        ...browser,
        status: 'completed',
        completedAt: filled(row.completedAt, row),
      } satisfies Completed
    case 'failed':
      return {
        ...common,
        ...flow,
        ...browser,
        status: 'failed',
        reason: filled(row.reason, row),
        message: row.message ?? '',
        completedAt: filled(row.completedAt, row),
      } satisfies Failed
  }
}

function toAttempt({ stateHash, browserHash, secrets, startedAt }: AuthorizationRow): Attempt | undefined {
  if (stateHash === null || browserHash === null || secrets === null || startedAt === null) return undefined
  return { stateHash, browserHash, secrets, startedAt }
}

function filled<T>(value: T | null | undefined, { id, status }: AuthorizationRow): T {
  if (value === null || value === undefined)
    throw new Error(`authorization ${id} is ${status} but lacks what that needs`)
  return value
}
