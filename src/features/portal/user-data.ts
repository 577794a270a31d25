import type { Broker } from '../../broker.ts'
import type { Authorization } from '../../domain/authorization.ts'
import { type EpochSeconds, toTimestamp } from '../../domain/clock.ts'
import type { Connection } from '../../domain/connection.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import type { McpConsent } from '../../domain/mcp-consent.ts'
import { readAudit } from '../../flows/audit/read-audit.ts'
import type { DataOwner } from '../../flows/erase-user.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import { openAccess } from '../../flows/seal-grant.ts'
import { entryToWire } from '../../services/audit-entry.ts'
import { UnknownKeyError, UnsealError } from '../../store/seal.ts'

const PAGE = 100
/** The most pairs of a connection and a tool that used it. Further ones are left out. */
const MAX_TOOL_USES = 10_000

/**
 * The data about a user that docs/guides/portal.md lists under "What is downloaded", as the pieces of one JSON document.
 * Pieces are yielded while the data is read, so that a long history does not fill the memory. The download is recorded in
 * the audit trail before the first piece.
 */
export async function* userData(broker: Broker, owner: DataOwner): AsyncGenerator<string, undefined> {
  const { projectId, userId } = owner
  await broker.audit.record(projectId, { action: 'user.exported', userId })
  const head = { user_id: userId, exported_at: toTimestamp(broker.now()) }
  yield JSON.stringify(head, null, 1).slice(0, -2)
  const lists: readonly (readonly [string, AsyncIterable<object>])[] = [
    ['connections', connectionsOf(broker, owner)],
    ['authorizations', authorizationsOf(broker, owner)],
    ['applications', applicationsOf(broker, owner)],
    ['runs', runsOf(broker, owner)],
    ['audit', auditOf(broker, owner)],
  ]
  for (const [name, items] of lists) {
    yield `,\n ${JSON.stringify(name)}: [`
    let isFirst = true
    for await (const item of items) {
      yield `${isFirst ? '' : ','}\n  ${JSON.stringify(item)}`
      isFirst = false
    }
    yield isFirst ? ']' : '\n ]'
  }
  yield '\n}\n'
  return undefined
}

async function* connectionsOf(broker: Broker, { projectId, userId }: DataOwner): AsyncGenerator<object> {
  const uses = await broker.store.connectionTools.ofUser(projectId, userId, MAX_TOOL_USES)
  const toolsOf = Map.groupBy(uses, ({ connectionId }) => connectionId)
  const pages = pagesOf((page) => broker.store.connections.list(projectId, { userId }, page))
  for await (const connection of pages) {
    const tools = toolsOf.get(connection.id) ?? []
    yield {
      ...(await connectionData(broker, connection)),
      tools: tools.map(({ tool, lastUsedAt }) => ({ tool, last_used_at: toTimestamp(lastUsedAt) })),
    }
  }
}

async function connectionData(broker: Broker, connection: Connection): Promise<object> {
  const entry = await findProviderByUid(broker, connection.projectId, connection.providerUid)
  const { id, account, scopes, status, statusReason, isDefault } = connection
  return {
    id,
    provider_id: entry?.id ?? connection.providerUid,
    account,
    scopes,
    status,
    status_reason: statusReason,
    default: isDefault,
    created_at: toTimestamp(connection.createdAt),
    consented_at: toTimestamp(connection.consentedAt),
    last_used_at: optionalTimestamp(connection.lastUsedAt),
    user_info: userInfoOf(broker, connection),
  }
}

/** The user info of the connection; `undefined` if it cannot be decrypted. */
function userInfoOf(broker: Broker, connection: Connection): object | undefined {
  try {
    return openAccess(broker, connection).userInfo
  } catch (error) {
    if (error instanceof UnsealError || error instanceof UnknownKeyError) return undefined
    throw error
  }
}

async function* authorizationsOf(broker: Broker, { projectId, userId }: DataOwner): AsyncGenerator<object> {
  for (let after = ''; ; ) {
    const some = await broker.store.authorizations.ofUser(projectId, userId, { after, limit: PAGE })
    for (const authorization of some) yield await authorizationData(broker, authorization)
    if (some.length < PAGE) return
    after = some.at(-1)?.id ?? ''
  }
}

async function authorizationData(broker: Broker, authorization: Authorization): Promise<object> {
  const { id, projectId, status, steps, requester, createdAt, expiresAt } = authorization
  return {
    id,
    status,
    reason: authorization.status === 'failed' ? authorization.reason : undefined,
    requester,
    steps: await Promise.all(
      steps.map(async ({ providerUid, scopes, connectionId }) => ({
        provider_id: (await findProviderByUid(broker, projectId, providerUid))?.id ?? providerUid,
        scopes,
        connection_id: connectionId,
      })),
    ),
    created_at: toTimestamp(createdAt),
    expires_at: toTimestamp(expiresAt),
  }
}

async function* applicationsOf(broker: Broker, { projectId, userId }: DataOwner): AsyncGenerator<object> {
  for (const consent of await broker.store.mcpConsents.ofUser(projectId, userId))
    yield applicationData(consent)
}

function applicationData({
  id,
  clientId,
  clientName,
  redirectUri,
  scopes,
  createdAt,
  lastUsedAt,
}: McpConsent) {
  return {
    id,
    client_id: clientId,
    client_name: clientName,
    redirect_uri: redirectUri,
    scopes,
    created_at: toTimestamp(createdAt),
    last_used_at: optionalTimestamp(lastUsedAt),
  }
}

async function* runsOf(broker: Broker, { projectId, userId }: DataOwner): AsyncGenerator<object> {
  for await (const execution of pagesOf((page) => broker.store.executions.list(projectId, { userId }, page)))
    yield runData(execution)
}

function runData(run: Omit<ExecutionRecord, 'request' | 'result'>): object {
  const { id, toolId, type, entryPoint, status, outcome, errorKind, durationMs, attempts } = run
  return {
    id,
    tool: toolId,
    type,
    entry_point: entryPoint,
    status,
    outcome,
    error_kind: errorKind,
    attempts,
    duration_ms: durationMs,
    created_at: toTimestamp(run.createdAt),
    run_at: optionalTimestamp(run.runAt),
    started_at: optionalTimestamp(run.startedAt),
    finished_at: optionalTimestamp(run.finishedAt),
  }
}

async function* auditOf(broker: Broker, { projectId, userId }: DataOwner): AsyncGenerator<object> {
  for await (const entry of readAudit(broker, projectId, { userId }, 'oldest first')) yield entryToWire(entry)
}

interface SomePage<T> {
  readonly items: readonly T[]
  readonly next?: string
}

/** The items of all pages of a list, one page at a time. */
async function* pagesOf<T>(
  read: (page: { offset: number; limit: number; after?: string | undefined }) => Promise<SomePage<T>>,
): AsyncGenerator<T> {
  for (let after: string | undefined; ; ) {
    const page = await read({ offset: 0, limit: PAGE, after })
    yield* page.items
    if (page.next === undefined) return
    after = page.next
  }
}

function optionalTimestamp(at: EpochSeconds | undefined): string | undefined {
  return at === undefined ? undefined : toTimestamp(at)
}
