import type { EpochSeconds } from '../../domain/clock.ts'
import type { RequestedUse, UsedProvider, UsedTool } from '../../domain/requested-use.ts'
import { coveredScopes, splitScope } from '../../domain/scopes.ts'
import type { Policy } from './domain.ts'
import { isWithin } from './policy-time.ts'

/** The time of the evaluation, and whether the scopes are those of an existing token. */
export interface EvaluationContext {
  readonly at: EpochSeconds
  readonly scopes: 'needed' | 'granted'
}

/** The part of a use that concerns one provider; a use without providers is one part. */
export type UseOfProvider = Omit<RequestedUse, 'providers'> & { readonly provider?: UsedProvider }

/** Splits a use into its parts, one for each provider. */
export function byProvider({ providers, ...use }: RequestedUse): readonly UseOfProvider[] {
  return providers.length === 0 ? [use] : providers.map((provider) => ({ ...use, provider }))
}

/** Whether all members of the rule's `match` apply to the use, except `rate`, which `policy-rate.ts` counts. */
export function appliesTo(
  { effect, match }: Policy,
  use: UseOfProvider,
  context: EvaluationContext,
): boolean {
  const { users, tools, workers, providers, scopes, hosts, uses, time } = match
  const { userId, tool, worker, provider } = use
  return (
    (uses === undefined || uses.includes(use.use)) &&
    (users === undefined || (userId !== undefined && matchesAny(users, userId))) &&
    (tools === undefined || (tool !== undefined && matchesTool(tools, tool, effect))) &&
    (workers === undefined || (worker !== undefined && matchesAny(workers, worker))) &&
    (providers === undefined || (provider !== undefined && matchesAny(providers, provider.id))) &&
    (scopes === undefined || (provider !== undefined && hasScopes(scopes, provider, effect, context))) &&
    (hosts === undefined || matchesHosts(hosts, use.hosts, effect)) &&
    (time === undefined || isWithin(time, context.at))
  )
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

/** An `allow` rule must cover every scope of a token, so it never matches a token whose scopes are unknown. */
function hasScopes(
  patterns: readonly string[],
  { scopes, meaning }: UsedProvider,
  effect: Policy['effect'],
  context: EvaluationContext,
): boolean {
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

/** Whether the pattern matches the text; `*` matches any characters. The time is linear in the text for each `*`. */
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
