import {
  type ConnectionOwnerKind,
  GRANT_TYPES,
  type GrantType,
  type IssuerDecides,
  type Provider,
} from './provider.ts'

/** The grants in which no user takes part: no browser is sent to the server, and no code comes back. */
const WITHOUT_USER: readonly GrantType[] = GRANT_TYPES.filter(
  (type) => type !== 'device_code' && type !== 'installation',
)

/** Whose connections there may be: where the grant needs no user, only those of whom its tokens are for. */
export function ownerOf(provider: Pick<Provider, 'grant' | 'owner' | 'impersonation'>): ConnectionOwnerKind {
  return provider.owner ?? ownerOfGrant(provider) ?? 'user'
}

/**
 * The only owner of connections by a grant without a user: the one in whose name the client asks, or whose token it
 * exchanges, else the project.
 */
export function ownerOfGrant(
  provider: Pick<Provider, 'grant' | 'impersonation'>,
): Exclude<ConnectionOwnerKind, 'either'> | undefined {
  if (!isUserless(provider)) return undefined
  const isUsers = provider.impersonation !== undefined || provider.grant?.type === 'token_exchange'
  return isUsers ? 'user' : 'project'
}

/**
 * Whether tokens come without a user's part: the answer to a need is then a token or a refusal, never a link to this
 * provider. With `token_exchange`, it may be a link to the entry whose token is exchanged.
 */
export function isUserless({
  grant,
}: {
  readonly grant?: { readonly type: GrantType } | undefined
}): boolean {
  return grant !== undefined && WITHOUT_USER.includes(grant.type)
}

/** Whether browsers come back from the provider, so that a redirect URI is registered there. */
export function hasRedirect(provider: {
  readonly credentials?: unknown
  readonly grant?: { readonly type: GrantType } | undefined
}): boolean {
  return provider.credentials === undefined && !isUserless(provider) && !isDeviceGrant(provider)
}

/** Whether users approve by entering a code at the provider (RFC 8628). */
export function isDeviceGrant({
  grant,
}: {
  readonly grant?: { readonly type: GrantType } | undefined
}): boolean {
  return grant?.type === 'device_code'
}

/** Whether the credential is never handed out to callers, since it is more than a token: they use it by `/proxy`. */
export function isProxyOnly(provider: Pick<Provider, 'credentials' | 'dpop' | 'oauth1'>): boolean {
  return provider.credentials !== undefined || isKeptFromWorkers(provider)
}

/**
 * Whether workers are not given it either: a token that is bound to a key is of no use without the key (RFC 9449), nor is
 * one that signs requests without its secret and the client's (RFC 5849).
 */
export function isKeptFromWorkers({ dpop, oauth1 }: Pick<Provider, 'dpop' | 'oauth1'>): boolean {
  return dpop !== undefined || oauth1 !== undefined
}

/** Whether users choose an installation of the client, for which the client then asks for tokens without a user. */
export function isInstalled({
  grant,
}: {
  readonly grant?: { readonly type: GrantType } | undefined
}): boolean {
  return grant?.type === 'installation'
}

/** Whether the client asks for every token without a user, so that no refresh token is needed. */
export function asksForTokens(provider: {
  readonly grant?: { readonly type: GrantType } | undefined
}): boolean {
  return isUserless(provider) || isInstalled(provider)
}

/** The requests that a grant has no use for. A request that sends one of them is refused. */
export function isWithout(
  provider: { readonly grant?: { readonly type: GrantType } | undefined },
  role: IssuerDecides,
): boolean {
  if (role === 'choices') return provider.grant !== undefined // only with the token of a user's code
  if (role === 'device_authorization') return !isDeviceGrant(provider)
  if (OF_INSTALLATIONS.includes(role)) return !isInstalled(provider)
  if (isInstalled(provider)) return WITH_USERS_TOKEN.includes(role)
  return (isUserless(provider) ? WITH_CODE : isDeviceGrant(provider) ? BY_REDIRECT : []).includes(role)
}

/** Requests and settings of grants whose users are redirected to the provider. */
const BY_REDIRECT: readonly IssuerDecides[] = ['authorization', 'pushed_authorization', 'pkce', 'iss']

/** Requests of the grant `installation` alone. */
const OF_INSTALLATIONS: readonly IssuerDecides[] = ['installations', 'installation_token']

/** Requests with the token of the user's code, which the grant `installation` does not keep. */
const WITH_USERS_TOKEN: readonly IssuerDecides[] = [
  'refresh',
  'exchange',
  'renewal',
  'refresh_authentication',
  'user_info',
  'introspection',
]

/** Requests for a code, and those with a token that came by one. */
const WITH_CODE: readonly IssuerDecides[] = [
  'authorization',
  'pushed_authorization',
  'refresh',
  'exchange',
  'renewal',
  'refresh_authentication',
  'pkce',
  'iss',
  'end_session',
]
