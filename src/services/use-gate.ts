import type { ApprovalRule } from '../domain/approval.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { BrokerError } from '../domain/errors.ts'
import type { RequestedUse } from '../domain/requested-use.ts'
import type { RulesVersion } from '../store/audit-trail.ts'
import type { Release } from './release.ts'

/**
 * Permits uses of tokens. A check refuses by throwing `denied_by_policy`, or `policy_check_failed` if the gate could not
 * decide.
 */
export interface UseGate {
  /** Called before the user or a provider is involved. The use then runs in `permit` with the same object. */
  check(use: RequestedUse): Promise<void>
  /**
   * Called right before tokens are released: as part of the permitted use, now with the granted scopes, or else as
   * tokens for the caller. `once` identifies the release over its retries, so that it is counted once and no hook is
   * asked twice. The store compares the returned versions with the current one when it records the release. Without a
   * promise if the gate need not wait, since every request comes here. Throws `ApprovalMissing` where people must approve
   * a use that is not a tool's run.
   */
  checkRelease(
    releases: readonly [Release, ...Release[]],
    once: object,
  ): readonly RulesVersion[] | Promise<readonly RulesVersion[]>
  /**
   * Called right before a worker is asked to run a tool, inside `permit`: counts the run where a quota is kept, and
   * refuses if it is used up, or throws `ApprovalMissing` if people are asked then. A run is counted once, however often the worker is asked. No promise if nothing is counted.
   */
  checkStart(use: RequestedUse): Promise<void> | undefined
  /** Called before a user is asked for consent: refuses if every use of the tokens is refused at any time. */
  checkConsent(need: Pick<RequestedUse, 'projectId' | 'userId' | 'providers'>): Promise<void>
  /**
   * Returns the rules by which people must approve uses. `undefined`: there are no such rules in the project, so that
   * nothing else need be looked up.
   */
  approvals(projectId: string): Promise<ApprovalRules | undefined>
  /**
   * Returns a test for uses that are refused at any time, for lists of what a user may do. `undefined`: the gate
   * refuses nothing in the project.
   */
  alwaysRefused(projectId: string): Promise<((use: RequestedUse) => boolean) | undefined>
  /** A change of such a row may change what `alwaysRefused` refuses. */
  readonly nouns: readonly string[]
}

/** Thrown by `checkRelease` and `checkStart` where people must approve a use first. */
export class ApprovalMissing extends Error {
  readonly use: RequestedUse
  constructor(use: RequestedUse) {
    super('people must approve this use')
    this.use = use
  }
}

/** The rules of a project that want uses approved. */
export interface ApprovalRules {
  /** All that are in force (`ruleKey`). */
  readonly keys: ReadonlySet<string>
  /** Those that match a use with its granted scopes. */
  matching(use: RequestedUse): NeededApprovals
}

export interface NeededApprovals {
  readonly rules: readonly ApprovalRule[]
  /** The versions of all rules of the project: what was approved under others is not used. */
  readonly versions: readonly RulesVersion[]
  /** Present where a decision point outside of Gatepass decides about some of the rules. */
  readonly outside?: OutsideDecisions | undefined
}

/** The decisions that are made outside of Gatepass, about one use. */
export interface OutsideDecisions {
  /** Requests them for the question, once, however often it is called. */
  request(question: { readonly id: string; readonly expiresAt: EpochSeconds }): Promise<void>
  /**
   * Asks the decision points again, now that the question is approved. Throws `denied_by_policy` and
   * `policy_check_failed`; calls `end` before it throws where the approval no longer counts.
   */
  confirm(questionId: string, end: () => Promise<unknown>): Promise<void>
}

/** One gate of several, which are asked in their order. Without any, every use is permitted. */
export function createUseGate(gates: readonly UseGate[]): UseGate {
  return gates.length === 0 ? OPEN : gates.reduce(inTurn)
}

const OPEN: UseGate = {
  check: async () => {},
  checkRelease: () => [],
  checkStart: () => undefined,
  checkConsent: async () => {},
  approvals: async () => undefined,
  alwaysRefused: async () => undefined,
  nouns: [],
}

function inTurn(first: UseGate, second: UseGate): UseGate {
  return {
    async check(use) {
      await first.check(use)
      await second.check(use)
    },
    async checkRelease(releases, once) {
      const versions = await first.checkRelease(releases, once)
      return [...versions, ...(await second.checkRelease(releases, once))]
    },
    checkStart(use) {
      const started = first.checkStart(use)
      return started === undefined ? second.checkStart(use) : started.then(() => second.checkStart(use))
    },
    async checkConsent(need) {
      await first.checkConsent(need)
      await second.checkConsent(need)
    },
    async approvals(projectId) {
      const found = [await first.approvals(projectId), await second.approvals(projectId)]
      const all = found.filter((rules) => rules !== undefined)
      if (all.length === 0) return undefined
      return {
        keys: new Set(all.flatMap(({ keys }) => [...keys])),
        matching(use) {
          const needed = all.map((rules) => rules.matching(use))
          return {
            rules: needed.flatMap(({ rules }) => rules),
            versions: needed.flatMap(({ versions }) => versions),
            // no two gates ask outside
            outside: needed.find(({ outside }) => outside !== undefined)?.outside,
          }
        },
      }
    },
    async alwaysRefused(projectId) {
      const tests = [await first.alwaysRefused(projectId), await second.alwaysRefused(projectId)]
      const known = tests.filter((test) => test !== undefined)
      return known.length === 0 ? undefined : (use) => known.some((isRefused) => isRefused(use))
    },
    nouns: [...first.nouns, ...second.nouns],
  }
}

/** Whether a gate refused the use, or could not decide. */
export function isGateRefusal({ code }: BrokerError): boolean {
  return code === 'denied_by_policy' || code === 'policy_check_failed'
}
