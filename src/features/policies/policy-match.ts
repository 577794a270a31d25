import type { EpochSeconds } from '../../domain/clock.ts'
import { matchesText } from '../../domain/match-text.ts'
import type {
  ConnectionOwner,
  Hint,
  RequestedUse,
  UsedProvider,
  UsedTool,
} from '../../domain/requested-use.ts'
import { coveredScopes, splitScope } from '../../domain/scopes.ts'
import type { ArgumentVerdict } from './argument-judge.ts'
import type { Policy } from './domain.ts'
import { isWithin } from './policy-time.ts'

/** The time of the evaluation, and whether the scopes are those of an existing token. */
export interface EvaluationContext {
  readonly at: EpochSeconds
  readonly scopes: 'needed' | 'granted'
  /** Whether the arguments of the use are as the rules say; absent: no rule about arguments applies. */
  readonly verdicts?: ReadonlyMap<Policy, ArgumentVerdict> | 'ignored'
}

/** The part of a use that concerns one provider; a use without providers is one part. */
export type UseOfProvider = Omit<RequestedUse, 'providers'> & { readonly provider?: UsedProvider }

/** Splits a use into its parts, one for each provider. */
export function byProvider({ providers, ...use }: RequestedUse): readonly UseOfProvider[] {
  return providers.length === 0 ? [use] : providers.map((provider) => ({ ...use, provider }))
}

/** Whether all members of the rule's `match` apply to the use, except `rate`, which `policy-rate.ts` counts. */
export function appliesTo(policy: Policy, use: UseOfProvider, context: EvaluationContext): boolean {
  const { effect, match } = policy
  const { users, tools, workers, providers, owners, scopes, hosts, uses, hints, methods, paths, time } = match
  const { userId, tool, worker, provider, request } = use
  return (
    (uses === undefined || uses.includes(use.use)) &&
    (users === undefined || (userId !== undefined && matchesAny(users, userId))) &&
    (tools === undefined || (tool !== undefined && matchesTool(tools, tool, effect))) &&
    (workers === undefined || (worker !== undefined && matchesAny(workers, worker))) &&
    (providers === undefined || (provider !== undefined && matchesProvider(providers, provider, effect))) &&
    (owners === undefined || (provider !== undefined && isOwned(owners, provider, effect))) &&
    (scopes === undefined || (provider !== undefined && hasScopes(scopes, provider, effect, context))) &&
    (hosts === undefined || matchesHosts(hosts, use.hosts, effect)) &&
    (hints === undefined || (tool !== undefined && hasHint(hints, tool, effect))) &&
    (methods === undefined || (request !== undefined && methods.includes(request.method))) &&
    (paths === undefined || (request !== undefined && matchesPaths(paths, request.readings, effect))) &&
    (time === undefined || isWithin(time, context.at)) &&
    (match.arguments === undefined || (tool !== undefined && hasArguments(policy, context)))
  )
}

function hasArguments(policy: Policy, { verdicts }: EvaluationContext): boolean {
  return verdicts === 'ignored' || verdicts?.get(policy) === true
}

/** Any spelling is enough to refuse a tool, but only a name of its own allows it; `*` is every tool. */
function matchesTool(
  patterns: readonly string[],
  { aliases, ownNames }: UsedTool,
  effect: Policy['effect'],
): boolean {
  if (effect === 'allow' && patterns.includes('*')) return true
  return (effect === 'allow' ? ownNames : aliases).some((name) => matchesAny(patterns, lower(name), lower))
}

/** A rule that refuses an entry also binds tokens that its tokens are exchanged for; one that allows it does not. */
function matchesProvider(
  patterns: readonly string[],
  provider: UsedProvider,
  effect: Policy['effect'],
): boolean {
  const ids = effect === 'allow' ? [provider.id] : providerIds(provider)
  return ids.some((id) => matchesAny(patterns, id))
}

/** The entry whose token is used, and that whose token was exchanged for it. */
export function providerIds({ id, subjectId }: UsedProvider): readonly string[] {
  return subjectId === undefined ? [id] : [id, subjectId]
}

/** A rule that allows must know all that the tool does. */
function hasHint(wanted: readonly Hint[], { hints }: UsedTool, effect: Policy['effect']): boolean {
  const isWanted = (hint: Hint) => wanted.includes(hint)
  return effect === 'allow' ? hints.every(isWanted) : hints.some(isWanted)
}

/** A connection whose owner is not known may be anyone's: rules that restrict match it, those that allow do not. */
function isOwned(
  wanted: readonly ConnectionOwner[],
  { owner }: UsedProvider,
  effect: Policy['effect'],
): boolean {
  return owner === undefined ? effect !== 'allow' : wanted.includes(owner)
}

/**
 * An `allow` rule must cover every scope of a token, so it never matches a token whose scopes are unknown. Keys that
 * users type have none: what they may do is not known, so no rule with scopes matches them.
 */
function hasScopes(
  patterns: readonly string[],
  { scopes, meaning }: UsedProvider,
  effect: Policy['effect'],
  context: EvaluationContext,
): boolean {
  if (meaning?.hasNoScopes) return false
  if (effect !== 'allow')
    return [...coveredScopes(scopes, meaning)].some((scope) => matchesAny(patterns, scope))
  const single = scopes.flatMap(splitScope)
  return (
    (single.length > 0 || context.scopes === 'needed') && single.every((scope) => matchesAny(patterns, scope))
  )
}

function matchesHosts(
  patterns: readonly string[],
  hosts: readonly string[],
  effect: Policy['effect'],
): boolean {
  const matches = (host: string) =>
    spellingsOf(host).some((spelling) => matchesAny(patterns, spelling, lower))
  return hosts.length > 0 && (effect === 'allow' ? hosts.every(matches) : hosts.some(matches))
}

/** Servers read a path differently: any reading is enough to refuse a request, but only all of them allow it. */
function matchesPaths(
  patterns: readonly string[],
  readings: readonly string[],
  effect: Policy['effect'],
): boolean {
  const matches = (reading: string) => matchesAny(patterns, reading)
  return effect === 'allow' ? readings.every(matches) : readings.some(matches)
}

/** The spellings of a host that a pattern may match: `Example.com.:8080` gives `example.com` and `example.com:8080`. */
export function spellingsOf(host: string): string[] {
  const whole = lower(host)
  const port = /(?<=^[^:]*|\]):\d+$/.exec(whole)?.[0] ?? ''
  const name = whole.slice(0, whole.length - port.length).replace(/\.$/, '')
  return port === '' ? [name] : [name, name + port]
}

const lower = (text: string) => text.toLowerCase()
const unchanged = (text: string) => text

function matchesAny(patterns: readonly string[], text: string, fold = unchanged): boolean {
  return patterns.some((pattern) => matchesText(fold(pattern), text))
}
