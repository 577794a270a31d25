import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { findProviderByUid, getProvider } from '../../flows/get-provider.ts'
import { openAccess, openRefreshToken } from '../../flows/seal-grant.ts'
import { keptValuesOf } from '../../providers/kept-values.ts'
import { UnknownKeyError, UnsealError } from '../../store/seal.ts'

export interface ExportFilter {
  readonly userId?: string
  readonly providerId?: string
}

/** How many connections an export wrote and left out. */
export interface ExportCounts {
  written: number
  /** The user has to approve again, or their tokens cannot be decrypted. */
  leftOut: number
}

const PAGE = 200

/**
 * The connections with their tokens, in the form that `POST /v1/admin/user_connections/import` accepts. The export is
 * recorded in the audit trail before the first connection is yielded.
 */
export async function* exportConnections(
  broker: Broker,
  projectId: string,
  { userId, providerId }: ExportFilter,
  counts: ExportCounts,
): AsyncGenerator<object> {
  const chosen = providerId === undefined ? undefined : await getProvider(broker, projectId, { providerId })
  const filter = {
    ...(userId !== undefined && { userId }),
    ...(chosen !== undefined && { providerUid: chosen.uid }),
  }
  await broker.audit.record(projectId, {
    action: 'connections.exported',
    userId,
    ...(chosen !== undefined && { providerId: chosen.id }),
  })
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const page = await broker.store.connections.list(projectId, filter, { offset: 0, limit: PAGE, after })
    for (const connection of page.items) {
      const row = connection.status === 'active' ? await toRow(broker, connection) : undefined
      if (row === undefined) counts.leftOut += 1
      else {
        counts.written += 1
        yield row
      }
    }
    after = page.next
  }
}

async function toRow(
  broker: Broker,
  connection: Parameters<typeof openAccess>[1],
): Promise<object | undefined> {
  const entry = await findProviderByUid(broker, connection.projectId, connection.providerUid)
  if (entry === undefined) return undefined
  try {
    const { accessToken, userInfo, extra, kept, dpopKey, tokenSecret } = openAccess(broker, connection)
    const refreshToken = openRefreshToken(broker, connection)
    return {
      user_id: connection.userId,
      provider_id: entry.id,
      access_token: accessToken,
      refresh_token: refreshToken,
      token_type: connection.tokenType,
      expires_at: toTimestamp(connection.expiresAt),
      scopes: connection.scopes,
      account: connection.account,
      user_info: userInfo,
      extra,
      kept_values: keptValuesOf(entry.provider, kept),
      dpop_key: dpopKey,
      token_secret: tokenSecret,
      default: connection.isDefault,
    }
  } catch (error) {
    if (error instanceof UnsealError || error instanceof UnknownKeyError) return undefined
    throw error
  }
}
