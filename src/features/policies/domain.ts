import type { EpochSeconds } from '../../domain/clock.ts'
import type { UseKind } from '../../domain/requested-use.ts'
import type { Sealed } from '../../domain/sealed.ts'

/** A project's rule about which users may use which tokens for what. */
export interface Policy {
  /** The operator's name for the rule, unique in its project. Refusals show it. */
  readonly id: string
  readonly projectId: string
  readonly description?: string
  readonly enabled: boolean
  /**
   * `deny`: refuses what it matches. `allow`: if a project has any such rule, what none of them matches is refused.
   * `hook`: refuses what it matches unless its URL agrees.
   */
  readonly effect: 'allow' | 'deny' | 'hook'
  readonly match: PolicyMatch
  readonly hook?: PolicyHook
  /** Sent to the hook's URL as a bearer token. */
  readonly hookSecret?: Sealed
  /** Keyed MAC over the members that grant rights (`protected-tables.ts`); the store writes it. */
  readonly mac?: string
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
}

/**
 * What a rule matches. An absent member matches everything; a present one never matches a use that lacks it. Any one
 * value of a list is enough. In texts `*` matches any characters. If a use has several scopes or hosts, `deny` and
 * `hook` match by any of them and `allow` only by all. Several providers are judged separately.
 */
export interface PolicyMatch {
  readonly users?: readonly string[]
  /**
   * Names of tools, in any case. An `allow` rule matches a tool only by a name that belongs to its source. A use without a tool (a token
   * that a caller fetches, the proxy) has none.
   */
  readonly tools?: readonly string[]
  /** Ids of the workers that run the tool, or list their tools with the token. */
  readonly workers?: readonly string[]
  /** Ids of provider entries. */
  readonly providers?: readonly string[]
  /** Scopes: those needed before there is a token, those granted afterwards. */
  readonly scopes?: readonly string[]
  /** Hosts that receive the token, as far as they are known: `api.github.com`, `*.example.com`, `localhost:8080`. */
  readonly hosts?: readonly string[]
  /** What the token is used for. */
  readonly uses?: readonly UseKind[]
  readonly time?: PolicyTime
  /** Not allowed in an `allow` rule. */
  readonly rate?: PolicyRate
}

/** Matches during these hours, by the wall clock of a time zone. */
export interface PolicyTime {
  /** 1 is Monday (ISO 8601); absent: every day. */
  readonly days?: readonly number[]
  /**
   * `HH:MM`; absent: midnight. If `to` is before `from`, the period runs past midnight and belongs to the day it
   * begins on.
   */
  readonly from?: string
  /** `HH:MM`, exclusive; absent: until midnight. */
  readonly to?: string
  /** IANA name; absent: UTC. */
  readonly zone?: string
}

/** Matches every use beyond `limit` uses within `seconds`. Uses are counted separately for each `per`. */
export interface PolicyRate {
  readonly limit: number
  readonly seconds: number
  readonly per: 'user' | 'tool' | 'project'
}

export interface PolicyHook {
  readonly url: string
  readonly timeoutMs: number
  /** What happens to a use when the hook does not answer properly. */
  readonly onFailure: 'deny' | 'allow'
}

/** The primary key of a policy: its id is unique in its project only. A project's id has no space in it. */
export function policyUid(id: string, projectId: string): string {
  return `${projectId} ${id}`
}
