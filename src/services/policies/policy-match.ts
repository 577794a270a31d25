import type { EpochSeconds } from '../../domain/clock.ts'
import type { Policy, PolicyUse } from '../../domain/policy.ts'
import { coveredScopes, type ScopeMeaning, splitScope } from '../../domain/scopes.ts'
import { isWithin } from './policy-time.ts'

/** What somebody is about to do with tokens, as policies see it. */
export interface PolicyUseOf {
  readonly projectId: string
  readonly userId?: string
  readonly use: PolicyUse
  /** `aliases`: every spelling it answers to, in lower case (`toolAliases`). */
  readonly tool?: { readonly id: string; readonly aliases: readonly string[] }
  readonly executionId?: string
  readonly input?: unknown
  /** Whose tokens, none where none is needed. */
  readonly providers: readonly PolicyProvider[]
  /** Where the tokens go, as far as it is known: `host` or `host:port`. */
  readonly hosts: readonly string[]
  /** Keys of the secrets that go along. */
  readonly secrets?: readonly string[]
}

export interface PolicyProvider {
  /** The provider entry's readable id. */
  readonly id: string
  /** Those of the token, or those that are needed while there is none. */
  readonly scopes: readonly string[]
  readonly userInfo?: Readonly<Record<string, unknown>>
  /** What the scopes stand for at this provider: a rule against one is not passed by another name for it. */
  readonly meaning?: ScopeMeaning
}

/** When a use is judged, and whether its tokens are known yet. */
export interface Look {
  readonly at: EpochSeconds
  readonly scopes: 'needed' | 'granted'
}

/** A use as it is to one of its providers; one that has none has no provider. */
export type UseOfProvider = Omit<PolicyUseOf, 'providers'> & { readonly provider?: PolicyProvider }

export function byProvider({ providers, ...use }: PolicyUseOf): readonly UseOfProvider[] {
  return providers.length === 0 ? [use] : providers.map((provider) => ({ ...use, provider }))
}

/** Whether the rule is about this use: all its members but `rate`, which is counted elsewhere. */
export function isAbout({ effect, match }: Policy, use: UseOfProvider, look: Look): boolean {
  const { users, tools, providers, scopes, hosts, uses, time } = match
  const { userId, tool, provider } = use
  return (
    (uses === undefined || uses.includes(use.use)) &&
    (users === undefined || (userId !== undefined && matchesAny(users, userId))) &&
    (tools === undefined ||
      (tool?.aliases.some((alias) => matchesAny(tools, alias.toLowerCase(), lower)) ?? false)) &&
    (providers === undefined || (provider !== undefined && matchesAny(providers, provider.id))) &&
    (scopes === undefined || (provider !== undefined && hasScopes(scopes, provider, effect, look))) &&
    (hosts === undefined || goesTo(hosts, use.hosts, effect)) &&
    (time === undefined || isWithin(time, look.at))
  )
}

/** An `allow` rule vouches for all that a token may do; one of which nothing is known does not fit it. */
function hasScopes(
  patterns: readonly string[],
  { scopes, meaning }: PolicyProvider,
  effect: Policy['effect'],
  look: Look,
): boolean {
  if (effect !== 'allow')
    return [...coveredScopes(scopes, meaning)].some((scope) => matchesAny(patterns, scope))
  const single = scopes.flatMap(splitScope)
  return (
    (single.length > 0 || look.scopes === 'needed') && single.every((scope) => matchesAny(patterns, scope))
  )
}

function goesTo(patterns: readonly string[], hosts: readonly string[], effect: Policy['effect']): boolean {
  const isOne = (host: string) => spellingsOf(host).some((one) => matchesAny(patterns, one, lower))
  return hosts.length > 0 && (effect === 'allow' ? hosts.every(isOne) : hosts.some(isOne))
}

/** `Example.com.:8080` is meant by `example.com` and by `example.com:8080`. */
function spellingsOf(host: string): string[] {
  const whole = lower(host)
  const port = /(?<=^[^:]*|\]):\d+$/.exec(whole)?.[0] ?? ''
  const name = whole.slice(0, whole.length - port.length).replace(/\.$/, '')
  return port === '' ? [name] : [name, name + port]
}

const lower = (text: string) => text.toLowerCase()
const asItIs = (text: string) => text

function matchesAny(patterns: readonly string[], text: string, fold = asItIs): boolean {
  return patterns.some((pattern) => matchesText(fold(pattern), text))
}

/** `*` stands for any characters, none too. Linear in the text for each `*`. */
export function matchesText(pattern: string, text: string): boolean {
  const [first = '', ...middles] = pattern.split('*')
  const last = middles.pop()
  if (last === undefined) return text === pattern
  const end = text.length - last.length
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const middle of middles) {
    const found = text.indexOf(middle, at)
    if (found < 0 || found + middle.length > end) return false
    at = found + middle.length
  }
  return true
}
