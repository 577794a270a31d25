import type { ApprovalTerms } from '../../domain/approval.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { ConnectionOwner, Hint, UseKind } from '../../domain/requested-use.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { JsonSchema } from '../../domain/tool.ts'

export const EFFECTS = ['allow', 'deny', 'hook', 'approve'] as const
export type Effect = (typeof EFFECTS)[number]

/** A project's rule about which users may use which tokens for what. */
export interface Policy {
  /** The operator's name for the rule, unique in its project. Refusals show it. */
  readonly id: string
  readonly projectId: string
  readonly description?: string
  readonly enabled: boolean
  /**
   * `deny`: refuses what it matches. `allow`: if a project has any such rule, what none of them matches is refused.
   * `hook`: refuses what it matches unless its URL agrees. `approve`: what it matches waits until a person approves it.
   */
  readonly effect: Effect
  readonly match: PolicyMatch
  readonly hook?: PolicyHook
  /** Only with the effect `approve`, which requires it. */
  readonly approve?: ApprovalTerms
  /** Sent to the hook's URL as a bearer token. */
  readonly hookSecret?: Sealed
  /** Keyed MAC over the members that grant rights (`protected-tables.ts`); the store writes it. */
  readonly mac?: string
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
}

/**
 * What a rule matches. An absent member matches everything; a present one never matches a use that lacks it. Any one
 * value of a list is enough. In texts `*` matches any characters. If a use has several scopes or hosts, `deny`,
 * `hook` and `approve` match by any of them and `allow` only by all. Several providers are judged separately.
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
  /** Who owns the connection that is used. Where that is not known, `allow` does not match, and all other effects do. */
  readonly owners?: readonly ConnectionOwner[]
  /** Scopes: those needed before there is a token, those granted afterwards. */
  readonly scopes?: readonly string[]
  /** Hosts that receive the token, as far as they are known: `api.github.com`, `*.example.com`, `localhost:8080`. */
  readonly hosts?: readonly string[]
  /** What the token is used for. */
  readonly uses?: readonly UseKind[]
  /** What tools do, by their annotations. */
  readonly hints?: readonly Hint[]
  /** Methods of forwarded requests, in upper case. */
  readonly methods?: readonly string[]
  /** Paths of forwarded requests, without their query. */
  readonly paths?: readonly string[]
  /** All must hold. A use that is not the run of a tool has no arguments. */
  readonly arguments?: readonly ArgumentRule[]
  readonly time?: PolicyTime
  /** Not allowed in an `allow` rule. */
  readonly rate?: PolicyRate
  /** Only in a `deny` or an `approve` rule. */
  readonly quota?: PolicyQuota
}

/** What an argument must be like. Exactly one member is present. */
export interface ArgumentTest {
  /** A number or `true` equals its text: tools read `"5"` and `5` alike. */
  readonly oneOf?: readonly (string | number | boolean | null)[]
  /** RE2, for the whole value. */
  readonly matches?: string
  /** `acme.com` alone, or with `*.acme.com` all below it. Only for what is read as addresses or URLs. */
  readonly domains?: readonly string[]
  readonly schema?: JsonSchema
}

/**
 * A condition on an argument of a tool's call: a test, or `not` with the test that must fail. Of several values any one
 * is enough for `deny`, `hook` and `approve`; `allow` needs all of them. A value that cannot be read counts against the
 * call: it is matched by rules that restrict, and never by rules that allow.
 */
export interface ArgumentRule extends ArgumentTest {
  /** A JSON Pointer (RFC 6901) into the arguments, in which the name `*` is every item. */
  readonly at: string
  /** `email`: an address list (RFC 5322); each address is a value. `url`: the host of the URL is the value. */
  readonly as?: 'email' | 'url'
  readonly not?: ArgumentTest
  /** What holds where the call has no such argument. Absent: `no_match`, with `not` `match`. */
  readonly missing?: 'match' | 'no_match'
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

/** Matches every run beyond `limit` runs in a calendar window, counted over all nodes, apart for each `per`. */
export interface PolicyQuota {
  readonly limit: number
  readonly per: 'user' | 'tool' | 'agent' | 'project'
  readonly window: 'hour' | 'day'
  /** IANA name of the calendar's time zone; absent: UTC. */
  readonly zone?: string
}

/** `arcade`: Arcade's `/pre` hooks. `authzen`: a policy decision point of AuthZEN 1.0. */
export const HOOK_FORMATS = ['arcade', 'authzen'] as const
export type HookFormat = (typeof HOOK_FORMATS)[number]

export interface PolicyHook {
  /** With the format `authzen` the address of the policy decision point, without the path of its endpoints. */
  readonly url: string
  /** Absent in rows of older releases: `arcade`. */
  readonly format?: HookFormat
  readonly timeoutMs: number
  /** What happens to a use when the hook does not answer properly. */
  readonly onFailure: 'deny' | 'allow'
}

/** The primary key of a policy: its id is unique in its project only. A project's id has no space in it. */
export function policyUid(id: string, projectId: string): string {
  return `${projectId} ${id}`
}
