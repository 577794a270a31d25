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

// Gets the tokens that a tool needs from Gatepass, for calls that bring none: those of other callers than Gatepass.

export type UserAuthorizations =
  | { readonly outcome: 'held'; readonly authorizations: Readonly<Record<string, AuthInfo>> }
  | { readonly outcome: 'missing'; readonly authorization: RequiredAuthorization }

/** The user's tokens for everything that the tool requires, or the first consent that is missing. */
export async function userAuthorizations(
  gatepass: GatepassClient,
  user: string,
  requiresAuth: RequiresAuth | undefined,
  signal: AbortSignal,
): Promise<UserAuthorizations> {
  const needed = authRequirements(requiresAuth)
  const all = await heldOf(gatepass, user, needed.all, signal)
  if (all.outcome === 'missing' || needed.alternatives.length === 0) return all
  const chosen = await chooseAlternative(gatepass, user, needed, signal)
  if (chosen.outcome === 'missing') return chosen
  return { outcome: 'held', authorizations: { ...all.authorizations, ...chosen.authorizations } }
}

/**
 * The first alternative that the user has granted; else the consent that is missing for the first one whose providers are
 * configured. Throws the refusal of Gatepass if there is none.
 */
async function chooseAlternative(
  gatepass: GatepassClient,
  user: string,
  { alternatives }: AuthRequirements,
  signal: AbortSignal,
): Promise<UserAuthorizations> {
  let first: UserAuthorizations | undefined
  const refusals: unknown[] = []
  for (const alternative of alternatives) {
    try {
      const held = await heldOf(gatepass, user, alternative, signal)
      if (held.outcome === 'held') return held
      first ??= held
    } catch (error) {
      if (!isNotConfigured(error)) throw error
      refusals.push(error)
    }
  }
  if (first !== undefined) return first
  throw refusals[0]
}

/** Whether Gatepass has refused because it does not have the provider, or not completely. */
function isNotConfigured(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return ['provider_not_found', 'provider_incomplete', 'provider_inactive'].includes(code)
}

async function heldOf(
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

/** The consent that an `AuthorizationRequired` of any copy of the client names. */
function missingOf(error: unknown): RequiredAuthorization | undefined {
  if (!(error instanceof Error) || !('authorization' in error)) return undefined
  const { authorization } = error
  const isConsent = typeof authorization === 'object' && authorization !== null && 'url' in authorization
  return isConsent ? (authorization as RequiredAuthorization) : undefined // as the client declares it
}
