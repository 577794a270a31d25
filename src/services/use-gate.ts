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
   * promise if the gate need not wait, since every request comes here.
   */
  checkRelease(
    releases: readonly [Release, ...Release[]],
    once: object,
  ): readonly RulesVersion[] | Promise<readonly RulesVersion[]>
  /** Called before a user is asked for consent: refuses if every use of the tokens is refused at any time. */
  checkConsent(need: Pick<RequestedUse, 'projectId' | 'userId' | 'providers'>): Promise<void>
  /**
   * Returns a test for uses that are refused at any time, for lists of what a user may do. `undefined`: the gate
   * refuses nothing in the project.
   */
  alwaysRefused(projectId: string): Promise<((use: RequestedUse) => boolean) | undefined>
  /** A change of such a row may change what `alwaysRefused` refuses. */
  readonly nouns: readonly string[]
}

/** One gate of several, which are asked in their order. Without any, every use is permitted. */
export function createUseGate(gates: readonly UseGate[]): UseGate {
  return gates.length === 0 ? OPEN : gates.reduce(inTurn)
}

const OPEN: UseGate = {
  check: async () => {},
  checkRelease: () => [],
  checkConsent: async () => {},
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
    async checkConsent(need) {
      await first.checkConsent(need)
      await second.checkConsent(need)
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
