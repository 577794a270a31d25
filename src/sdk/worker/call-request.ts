import { isRecord } from '../is-record.ts'
import { allAuths, authName, type RequiresAuth } from '../tools/auth.ts'
import type { AuthInfo } from '../tools/context.ts'

// Reading the body of `POST /worker/tools/invoke`: Arcade's ToolCallRequest, with what Gatepass adds to it. Calls over
// MCP have the same context in their `_meta`.

export interface CallRequest extends CallContext {
  readonly executionId: string
  readonly tool: string
  /** Absent: any. */
  readonly toolkit?: string
  readonly inputs: Readonly<Record<string, unknown>>
}

/** What Gatepass gives to a tool besides its input. */
export interface CallContext {
  readonly userId: string | null
  readonly secrets: Readonly<Record<string, string>>
  readonly metadata: Readonly<Record<string, unknown>>
  /** The tokens by the names in the tool's `requiresAuth`. */
  authorizations(requiresAuth: RequiresAuth | undefined): Readonly<Record<string, AuthInfo>>
}

/** Reads a call. Returns `undefined` for a body that names no tool, or whose inputs are no object. */
export function readCallRequest(body: unknown): CallRequest | undefined {
  const { execution_id, tool, inputs, context } = members(body)
  const { name, toolkit } = members(tool)
  if (typeof name !== 'string' || (!isAbsent(inputs) && !isRecord(inputs))) return undefined
  return {
    executionId: typeof execution_id === 'string' ? execution_id : crypto.randomUUID(),
    tool: name,
    ...(typeof toolkit === 'string' && { toolkit }),
    inputs: members(inputs),
    ...readCallContext(context),
  }
}

/** Reads the context of a call. Malformed members count as absent, as in the call of a tool that needs nothing. */
export function readCallContext(context: unknown): CallContext {
  const { user_id, secrets, metadata, authorization, authorizations } = members(context)
  return {
    userId: typeof user_id === 'string' ? user_id : null,
    secrets: keyed(secrets, (value) => typeof value === 'string') as Record<string, string>, // filtered
    metadata: keyed(metadata, () => true),
    authorizations(requiresAuth) {
      const auths = allAuths(requiresAuth)
      const several = Array.isArray(authorizations) ? authorizations.map(members) : []
      return Object.fromEntries(
        auths.flatMap((auth, i) => {
          const name = authName(auth)
          const named = several.find(({ names }) => Array.isArray(names) && names.includes(name))
          const given = named ?? (several.length > 0 || i > 0 ? undefined : members(authorization))
          const info = given && toAuthInfo(given, auth.scopes ?? [])
          return info === undefined ? [] : [[name, info]]
        }),
      )
    },
  }
}

/**
 * Reads an authorization; `undefined` without a token. Arcade's calls name no scopes, because Arcade calls a tool only
 * when the required scopes are granted.
 */
function toAuthInfo(
  { token, token_type, expires_at, scopes, user_info, extra, fields }: Readonly<Record<string, unknown>>,
  required: readonly string[],
): AuthInfo | undefined {
  if (typeof token !== 'string' || token === '') return undefined
  const expiresAt = typeof expires_at === 'string' ? Date.parse(expires_at) : Number.NaN
  return {
    token,
    tokenType: typeof token_type === 'string' ? token_type : 'bearer',
    ...(!Number.isNaN(expiresAt) && { expiresAt: new Date(expiresAt) }),
    scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : required,
    userInfo: members(user_info),
    extra: members(extra),
    ...(isRecord(fields) && { fields: texts(fields) }),
  }
}

function texts(record: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record).filter((member) => typeof member[1] === 'string'),
  ) as Record<string, string> // filtered
}

/** Reads `[{key, value}]`, or an object as Arcade's published schema has it. */
function keyed(value: unknown, isAccepted: (value: unknown) => boolean): Readonly<Record<string, unknown>> {
  const pairs: [string, unknown][] = Array.isArray(value)
    ? value.map(members).map(({ key, value }) => [typeof key === 'string' ? key : '', value])
    : Object.entries(members(value))
  return Object.fromEntries(pairs.filter(([key, item]) => key !== '' && isAccepted(item)))
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}
