import { authName, type ToolAuth } from '../tools/auth.ts'
import type { AuthInfo } from '../tools/context.ts'

/** What a tool is given besides its input. */
export interface GivenToTool {
  readonly userId: string | null
  /** By the names that the tool uses for its providers. */
  readonly authorizations: Readonly<Record<string, AuthInfo>>
  readonly secrets: Readonly<Record<string, string>>
  readonly metadata: Readonly<Record<string, unknown>>
}

/**
 * Reads what Gatepass sends with a call, in `_meta.arcade_context`. What is missing or malformed is absent, as in the
 * call of a tool that needs nothing.
 */
export function readBrokerContext(value: unknown, providers: readonly ToolAuth[]): GivenToTool {
  const { user_id, authorization, authorizations, secrets, metadata } = record(value)
  const given = Array.isArray(authorizations) ? authorizations : [authorization]
  return {
    userId: typeof user_id === 'string' ? user_id : null,
    // Gatepass sends them in the order in which the tool declares its providers
    authorizations: Object.fromEntries(
      providers.flatMap((need, i) => {
        const read = readAuthorization(given[i])
        return read === undefined ? [] : [[authName(need), read]]
      }),
    ),
    secrets: Object.fromEntries(
      keyed(secrets).filter((one): one is [string, string] => typeof one[1] === 'string'),
    ),
    metadata: Object.fromEntries(keyed(metadata)),
  }
}

function readAuthorization(value: unknown): AuthInfo | undefined {
  const { token, token_type, expires_at, scopes, user_info, extra } = record(value)
  if (typeof token !== 'string') return undefined
  const expiresAt = typeof expires_at === 'string' ? new Date(expires_at) : undefined
  return {
    token,
    tokenType: typeof token_type === 'string' ? token_type : 'Bearer',
    ...(expiresAt !== undefined && { expiresAt }),
    scopes: Array.isArray(scopes) ? scopes.map(String) : [],
    userInfo: record(user_info),
    extra: record(extra),
  }
}

/** Reads `[{key, value}]`, as the protocol has secrets and metadata. */
function keyed(value: unknown): [string, unknown][] {
  const entries = Array.isArray(value) ? value.map(record) : []
  return entries.flatMap(({ key, value }) =>
    typeof key === 'string' ? [[key, value] satisfies [string, unknown]] : [],
  )
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isRecord ? (value as Readonly<Record<string, unknown>>) : {} // an object has members
}
