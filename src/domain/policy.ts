import type { EpochSeconds } from './clock.ts'
import type { Sealed } from './sealed.ts'

/** A rule of a project on who may use which tokens for what. */
export interface Policy {
  /** The name the operator gave it, unique in its project: refusals say it. */
  readonly id: string
  readonly projectId: string
  readonly description?: string
  readonly enabled: boolean
  /**
   * `deny`: what it matches is refused. `allow`: where a project has any of these, what none of them matches is refused.
   * `hook`: what it matches is refused unless the URL agrees.
   */
  readonly effect: 'allow' | 'deny' | 'hook'
  readonly match: PolicyMatch
  readonly hook?: PolicyHook
  /** Sent to the hook's URL as a bearer token. */
  readonly hookSecret?: Sealed
  /** Of the members that give power (`signed-rows.ts`); the store writes it. */
  readonly mac?: string
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
}

/**
 * What a rule is about. A member that is absent matches everything, one that is there never what the use does not
 * have; of a list any one is enough. In texts `*` stands for any characters. Where a use has several scopes or hosts,
 * `deny` and `hook` match by any of them, `allow` only by all. Several providers are each judged apart.
 */
export interface PolicyMatch {
  readonly users?: readonly string[]
  /** Any of a tool's names, in any case. A use without a tool (a token that a caller fetches, the proxy) has none. */
  readonly tools?: readonly string[]
  /** Ids of provider entries. */
  readonly providers?: readonly string[]
  /** What the token may do: needed before there is a token, granted once there is. */
  readonly scopes?: readonly string[]
  /** Where the token goes, as far as it is known: `api.github.com`, `*.example.com`, `localhost:8080`. */
  readonly hosts?: readonly string[]
  /** What the token is used for. */
  readonly uses?: readonly PolicyUse[]
  readonly time?: PolicyTime
  /** Not of an `allow` rule. */
  readonly rate?: PolicyRate
}

export const POLICY_USES = ['tool', 'proxy', 'token'] as const
/** `tool`: a tool is run with it; `proxy`: a request is forwarded with it; `token`: it is handed to the caller. */
export type PolicyUse = (typeof POLICY_USES)[number]

/** Matches in these hours, by the wall clock of a time zone. */
export interface PolicyTime {
  /** 1 is Monday (ISO 8601); absent: every day. */
  readonly days?: readonly number[]
  /** `HH:MM`, absent: midnight. Where `to` is before `from` it runs over midnight, on the day it begins. */
  readonly from?: string
  /** No longer at this minute; absent: until midnight. */
  readonly to?: string
  /** IANA name; absent: UTC. */
  readonly zone?: string
}

/** Matches once there were more than `limit` uses within `seconds`, counted apart for each of `per`. */
export interface PolicyRate {
  readonly limit: number
  readonly seconds: number
  readonly per: 'user' | 'tool' | 'project'
}

export interface PolicyHook {
  readonly url: string
  readonly timeoutMs: number
  /** What becomes of a use when the hook does not answer as it should. */
  readonly onFailure: 'deny' | 'allow'
}
