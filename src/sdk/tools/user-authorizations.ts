import {
  type AuthRequirements,
  authName,
  authRequirements,
  type RequiresAuth,
  type ToolAuth,
} from './auth.ts'
import type { AuthInfo } from './context.ts'
import type { GatepassClient } from './gatepass-client.ts'
import type { RequiredAuthorization } from './run.ts'

// Gets from Gatepass the tokens that a tool needs. Only a call by Gatepass brings them; calls by other callers do not.

export type UserAuthorizations =
  | { readonly outcome: 'held'; readonly authorizations: Readonly<Record<string, AuthInfo>> }
  | { readonly outcome: 'missing'; readonly authorization: RequiredAuthorization }

/** Returns the user's tokens for all that the tool requires, or the first consent that is missing. */
export async function userAuthorizations(
  gatepass: GatepassClient,
  user: string,
  requiresAuth: RequiresAuth | undefined,
  signal: AbortSignal,
): Promise<UserAuthorizations> {
  const needed = authRequirements(requiresAuth)
  const all = await tokensOf(gatepass, user, needed.all, signal)
  if (all.outcome === 'missing' || needed.alternatives.length === 0) return all
  const chosen = await chooseAlternative(gatepass, user, needed, signal)
  if (chosen.outcome === 'missing') return chosen
  return { outcome: 'held', authorizations: { ...all.authorizations, ...chosen.authorizations } }
}

/**
 * Returns the tokens of the first alternative that the user has granted; else the consent that is missing for the first
 * alternative whose providers are configured. Throws the first refusal of Gatepass if no alternative is configured.
 */
async function chooseAlternative(
  gatepass: GatepassClient,
  user: string,
  { alternatives }: AuthRequirements,
  signal: AbortSignal,
): Promise<UserAuthorizations> {
  let firstMissing: UserAuthorizations | undefined
  const refusals: unknown[] = []
  for (const alternative of alternatives) {
    try {
      const found = await tokensOf(gatepass, user, alternative, signal)
      if (found.outcome === 'held') return found
      firstMissing ??= found
    } catch (error) {
      if (!isNotConfigured(error)) throw error
      refusals.push(error)
    }
  }
  if (firstMissing !== undefined) return firstMissing
  throw refusals[0]
}

/** Whether Gatepass has refused because the provider is unknown, incomplete or inactive there. */
function isNotConfigured(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return ['provider_not_found', 'provider_incomplete', 'provider_inactive'].includes(code)
}

/** Returns the user's tokens for all that is needed, or the first consent that is missing. */
async function tokensOf(
  gatepass: GatepassClient,
  user: string,
  needed: readonly ToolAuth[],
  signal: AbortSignal,
): Promise<UserAuthorizations> {
  const authorizations: Record<string, AuthInfo> = {}
  for (const auth of needed) {
    const name = authName(auth)
    try {
      const { scopes } = auth
      const token = await gatepass.token(user, name, { ...(scopes !== undefined && { scopes }), signal })
      authorizations[name] = {
        token: token.value,
        tokenType: token.type,
        ...(token.expiresAt !== undefined && { expiresAt: token.expiresAt }),
        scopes: token.scopes,
        userInfo: token.userInfo ?? {},
        extra: {},
      }
    } catch (error) {
      const authorization = missingOf(error)
      if (authorization === undefined) throw error
      return { outcome: 'missing', authorization }
    }
  }
  return { outcome: 'held', authorizations }
}

/** Returns the missing consent if the error is an `AuthorizationRequired`, of any copy of the client. */
function missingOf(error: unknown): RequiredAuthorization | undefined {
  if (!(error instanceof Error) || !('authorization' in error)) return undefined
  const { authorization } = error
  const isConsent = typeof authorization === 'object' && authorization !== null && 'url' in authorization
  return isConsent ? (authorization as RequiredAuthorization) : undefined // as the client declares it
}
