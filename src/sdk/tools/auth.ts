// `requiresAuth` of a tool: the providers at which its user's consent is needed, and the scopes.

/** A provider by its kind: an id of Gatepass's catalogue, such as `github`. */
export interface AuthProvider<Name extends string = string> {
  readonly provider: Name
  readonly scopes: readonly string[]
}

/** A provider by the id of its entry in Gatepass. */
export interface OAuth2Provider<Id extends string = string> {
  readonly id: Id
  readonly scopes: readonly string[]
}

/** What `requiresAuth` accepts for one provider; without scopes, the provider's default. */
export type ToolAuth =
  | (Omit<AuthProvider, 'scopes'> & Partial<Pick<AuthProvider, 'scopes'>>)
  | (Omit<OAuth2Provider, 'scopes'> & Partial<Pick<OAuth2Provider, 'scopes'>>)

/** Any one of several is enough. Each alternative is a provider, or a list of providers that are needed together. */
export interface AnyAuth<
  Alternatives extends readonly (ToolAuth | readonly ToolAuth[])[] = readonly (
    | ToolAuth
    | readonly ToolAuth[]
  )[],
> {
  readonly anyOf: Alternatives
}

/** One provider, any one of several, or a list whose members are all needed. */
export type RequiresAuth = ToolAuth | AnyAuth | readonly (ToolAuth | AnyAuth)[]

/** An OAuth 2.0 provider by the id of its entry, for providers that the catalogue does not have. */
export function OAuth2<const Id extends string>(options: {
  readonly id: Id
  readonly scopes?: readonly string[]
}): OAuth2Provider<Id> {
  return { id: options.id, scopes: options.scopes ?? [] }
}

/** The first of these that the user has granted is used, else the first whose provider is configured. */
export function anyOf<const Alternatives extends readonly (ToolAuth | readonly ToolAuth[])[]>(
  ...alternatives: Alternatives
): AnyAuth<Alternatives> {
  return { anyOf: alternatives }
}

/** The name under which a handler finds the token in `authorizations`. */
export function authName(auth: ToolAuth): string {
  return 'id' in auth ? auth.id : auth.provider
}

/** The provider in the form of Arcade's servers. */
export function authorizationOf(auth: ToolAuth) {
  const name = 'id' in auth ? { id: auth.id } : { provider_id: auth.provider }
  return { ...name, provider_type: 'oauth2', oauth2: { scopes: [...(auth.scopes ?? [])] } }
}

export interface AuthRequirements {
  /** All of these are needed. */
  readonly all: readonly ToolAuth[]
  /** Besides, every member of one of these lists. Empty: nothing besides. */
  readonly alternatives: readonly (readonly ToolAuth[])[]
}

/** Sorts what `requiresAuth` says. Several `anyOf` become the alternatives of every combination. */
export function authRequirements(requiresAuth: RequiresAuth | undefined): AuthRequirements {
  if (requiresAuth === undefined) return { all: [], alternatives: [] }
  const members = isList(requiresAuth) ? requiresAuth : [requiresAuth]
  const groups = members.flatMap((member) => ('anyOf' in member ? [member.anyOf] : []))
  const combinations = groups.reduce<(readonly ToolAuth[])[]>(
    (before, group) =>
      before.flatMap((chosen) => group.map((added) => [...chosen, ...(isList(added) ? added : [added])])),
    [[]],
  )
  return {
    all: members.filter((member): member is ToolAuth => !('anyOf' in member)),
    alternatives: groups.length === 0 ? [] : combinations,
  }
}

/** Every provider that may be used, in the order in which it is written. */
export function allAuths(requiresAuth: RequiresAuth | undefined): readonly ToolAuth[] {
  if (requiresAuth === undefined) return []
  const members = isList(requiresAuth) ? requiresAuth : [requiresAuth]
  return members.flatMap((member) =>
    'anyOf' in member ? member.anyOf.flatMap((each) => (isList(each) ? each : [each])) : [member],
  )
}

// Array.isArray does not narrow a readonly array
function isList<One>(value: One | readonly One[]): value is readonly One[] {
  return Array.isArray(value)
}

type NameOf<Auth> = Auth extends { readonly id: infer Id extends string }
  ? Id
  : Auth extends { readonly provider: infer Name extends string }
    ? Name
    : never

type MemberOf<Auths> = Auths extends readonly (infer One)[] ? One : Auths

/** The names of the providers for which a tool always has a token. */
export type NeededNames<Requires> = NameOf<Exclude<MemberOf<Requires>, AnyAuth>>

/** The names of the providers for which it may have a token. */
export type PossibleNames<Requires> =
  Extract<MemberOf<Requires>, AnyAuth> extends infer Any
    ? Any extends AnyAuth<infer Alternatives>
      ? NameOf<MemberOf<Alternatives[number]>>
      : never
    : never
