import type { Clock, EpochSeconds } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { Log } from '../../domain/log.ts'
import type { Policy } from '../../domain/policy.ts'
import type { Outgoing } from '../../egress/outgoing.ts'
import type { Release } from '../../services/release.ts'
import type { PoliciesInForce } from '../../store/policies.ts'
import type { Sealer } from '../../store/seal.ts'
import { UnsealError } from '../../store/seal.ts'
import { policyPlace } from '../../store/sealed-columns.ts'
import type { Store } from '../../store/store.ts'
import type { AuditLog } from '../audit-log.ts'
import type { Metrics } from '../metrics.ts'
import { createReadCache } from '../read-cache.ts'
import { currentContext } from '../request-context.ts'
import { askHook } from './policy-hook.ts'
import type { Look, PolicyUseOf } from './policy-match.ts'
import { policyProvider } from './policy-provider.ts'
import { createRates } from './policy-rate.ts'
import { type Hit, type Judgement, judge, type PolicyRefusalReason } from './policy-rules.ts'

/** The policies that were judged by, at once where they are in memory. */
type Judged = PoliciesInForce | Promise<PoliciesInForce>

/**
 * Who may use which tokens for what. Each of these throws `denied_by_policy`, or `policy_check_failed` when a hook that
 * must agree could not be asked; what is refused is in the audit trail then, with the rule that refused it. In a
 * project without policies each is one look into memory.
 */
export interface Policies {
  /** Before anything is asked of the user or of a provider; what follows runs in `permit` with the same object. */
  check(use: PolicyUseOf): Judged
  /**
   * When tokens are about to leave: as part of the use that was permitted, now with the scopes that were granted, or
   * else as tokens that are handed to the caller. `once`: the same for the same release, however often it is tried.
   * What it returns is compared with the policies of the moment when the release is recorded.
   */
  checkRelease(releases: readonly [Release, ...Release[]], once: object): Judged
  /** Before a user is asked for a consent that is of no use: refused by a rule that refuses every use of it. */
  checkConsent(need: Pick<PolicyUseOf, 'projectId' | 'userId' | 'providers'>): Judged
  /** What the rules say of a use, without counting it or asking a hook. */
  explain(use: PolicyUseOf, at: EpochSeconds): Promise<Judgement>
}

interface Parts {
  readonly store: Store
  readonly outgoing: Outgoing
  readonly sealer: Sealer
  readonly audit: AuditLog
  readonly metrics: Metrics
  readonly log: Log
  readonly now: Clock
}

const MAX_HELD_PROJECTS = 1_000

export function createPolicies({ store, outgoing, sealer, audit, metrics, log, now }: Parts): Policies {
  const held = createReadCache<PoliciesInForce>(store, {
    max: MAX_HELD_PROJECTS,
    forgets: (change) => (change.noun === 'policy' ? 'all' : undefined),
  })
  const rates = createRates()
  /** Of each use that is under way: what has been counted, and what hooks have agreed to. */
  const settled = new WeakMap<object, Settled>()
  const refusals = metrics.counter('gatepass_policy_refusals_total', 'Uses that a policy refused', [
    'policy',
    'reason',
  ])

  function inForce(projectId: string): Judged {
    return held.get(projectId, () => store.policies.inForce(projectId))
  }

  function withPolicies(projectId: string, decide: (policies: readonly Policy[]) => Promise<void>): Judged {
    const judged = async (read: PoliciesInForce) => {
      await decide(read.policies)
      return read
    }
    const held = inForce(projectId)
    if (held instanceof Promise) return held.then((read) => (read.policies.length > 0 ? judged(read) : read))
    return held.policies.length > 0 ? judged(held) : held
  }

  async function decide(
    policies: readonly Policy[],
    use: PolicyUseOf,
    once: object,
    scopes: Look['scopes'],
  ): Promise<void> {
    const at = now()
    const { refusal, limits, hooks } = judge(policies, use, { at, scopes })
    if (refusal !== undefined) return refuse(use, refusal.reason, refusal.by)

    const done = settled.get(once) ?? {
      counted: new Set<string>(),
      within: new Set<string>(),
      agreed: new Map(),
    }
    settled.set(once, done)
    const isNew = ({ policy }: Hit) => !done.counted.has(policy.id)
    const asked = hooks.filter(({ policy }) => {
      const agreement = done.agreed.get(policy.id)
      if (agreement !== undefined) return !covers(agreement, policy, use)
      if (policy.match.rate === undefined) return true
      const isWithin = done.within.has(policy.id) || rates.exceeded(policy, use, at) === 0
      if (isWithin) done.within.add(policy.id)
      return !isWithin
    })
    const counted = [...limits, ...hooks]
      .filter(isNew)
      .filter(({ policy }) => policy.match.rate !== undefined)
    for (const hit of limits.filter(isNew)) {
      const seconds = rates.exceeded(hit.policy, use, at)
      if (seconds > 0) return refuse(use, 'rate', [hit], { retryAfter: seconds })
    }
    // before any hook is asked: of those who come meanwhile, none more than the limit get past
    for (const { policy } of counted) {
      rates.count(policy, use, at)
      done.counted.add(policy.id)
    }
    for (const hit of asked) {
      await askOf(hit, use)
      done.agreed.set(hit.policy.id, agreementOn(hit.policy, use))
    }
  }

  async function askOf(hit: Hit, use: PolicyUseOf): Promise<void> {
    const { policy } = hit
    const { hook, hookSecret, id, projectId } = policy
    if (hook === undefined) return refuse(use, 'hook_failed', [hit])
    let secret: string | undefined
    try {
      secret = hookSecret && sealer.open(hookSecret, policyPlace(id, projectId))
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error
      // whatever it says of failures: a hook that was tampered with must not be one that agrees
      return refuse(use, 'hook_failed', [hit])
    }
    const answer = await askHook(outgoing, { ...policy, hook }, secret, use)
    switch (answer.outcome) {
      case 'agreed':
        return
      case 'refused':
        return refuse(use, 'hook_refused', [hit], answer)
      case 'failed':
        log.warn(
          { policy: id, reason: answer.message, onFailure: hook.onFailure },
          'a policy hook gave no answer',
        )
        if (hook.onFailure === 'deny') return refuse(use, 'hook_failed', [hit])
    }
  }

  async function refuse(
    use: PolicyUseOf,
    reason: PolicyRefusalReason,
    by: readonly Hit[],
    more: { readonly message?: string; readonly retryAfter?: number } = {},
  ): Promise<never> {
    const { userId, tool, projectId } = use
    const provider = by[0]?.provider
    const subject = idsOf(by).join()
    refusals.increment(subject, reason)
    await audit.record(projectId, {
      action: 'policy.refused',
      subject,
      ...(userId !== undefined && { userId }),
      ...(provider && { providerId: provider.id, scopes: provider.scopes }),
      ...(tool && { tool: tool.id }),
      reason,
    })
    throw refusalOf(reason, by, more)
  }

  return {
    check: (use) => withPolicies(use.projectId, (policies) => decide(policies, use, use, 'needed')),

    checkRelease(releases, once) {
      const [first] = releases
      return withPolicies(first.connection.projectId, async (policies) => {
        const permitted = permittedFor(releases)
        const use = { ...(permitted ?? handedOut(first)), providers: releases.map(providerOf) }
        await decide(policies, use, permitted ?? once, 'granted')
      })
    },

    checkConsent: (need) =>
      withPolicies(need.projectId, async (policies) => {
        // whatever the consent would be used for, and whenever
        const always = policies.filter(
          ({ effect, match: { tools, hosts, uses, time, rate } }) =>
            effect === 'deny' && [tools, hosts, uses, time, rate].every((member) => member === undefined),
        )
        const use: PolicyUseOf = { ...need, use: 'token', hosts: [] }
        const { refusal } = judge(always, use, { at: now(), scopes: 'needed' })
        if (refusal !== undefined) await refuse(use, refusal.reason, refusal.by)
      }),

    async explain(use, at) {
      return judge((await inForce(use.projectId)).policies, use, { at, scopes: 'needed' })
    },
  }
}

interface Settled {
  /** Rules whose rate has counted the use. */
  readonly counted: Set<string>
  /** Rules with a hook whose rate was not exceeded by it. */
  readonly within: Set<string>
  /** By the id of the rule whose hook was asked. */
  readonly agreed: Map<string, Agreement>
}

/** What a hook was told of when it agreed: it says nothing of anything beyond. */
interface Agreement {
  readonly policy: Policy
  /** By the provider's id. */
  readonly scopes: ReadonlyMap<string, ReadonlySet<string>>
}

function agreementOn(policy: Policy, { providers }: PolicyUseOf): Agreement {
  return { policy, scopes: new Map(providers.map(({ id, scopes }) => [id, new Set(scopes)])) }
}

/** Whether the agreement was given by this very rule for all these providers and scopes. */
function covers(agreement: Agreement, policy: Policy, { providers }: PolicyUseOf): boolean {
  return (
    JSON.stringify(agreement.policy) === JSON.stringify(policy) &&
    providers.every(({ id, scopes }) => scopes.every((scope) => agreement.scopes.get(id)?.has(scope)))
  )
}

/** The use that was let through, if it is these users' tokens that it is about. */
function permittedFor(releases: readonly Release[]): PolicyUseOf | undefined {
  const { permitted } = currentContext()
  const isTheirs = releases.every(
    ({ connection }) =>
      connection.projectId === permitted?.projectId && connection.userId === permitted.userId,
  )
  return isTheirs ? permitted : undefined
}

function handedOut({ connection: { projectId, userId } }: Release): PolicyUseOf {
  return { projectId, userId, use: 'token', providers: [], hosts: [] }
}

function providerOf({ entry, connection, userInfo }: Release): PolicyUseOf['providers'][number] {
  return { ...policyProvider(entry, connection.scopes), userInfo }
}

/** Allow rules refuse together: a handful of them is named. */
function idsOf(by: readonly Hit[]): string[] {
  return by.slice(0, 5).map(({ policy }) => policy.id)
}

function refusalOf(
  reason: PolicyRefusalReason,
  by: readonly Hit[],
  { message, retryAfter }: { readonly message?: string; readonly retryAfter?: number },
): BrokerError {
  const names = idsOf(by).map((id) => `"${id}"`)
  const ask = 'An administrator of this project can change that.'
  switch (reason) {
    case 'denied':
      return new BrokerError('denied_by_policy', `The policy ${names[0]} refuses this. ${ask}`)
    case 'not_allowed':
      return new BrokerError(
        'denied_by_policy',
        `None of the policies that allow something allows this (${names.join(', ')}${by.length > names.length ? ', …' : ''}). ${ask}`,
      )
    case 'rate':
      return new BrokerError(
        'denied_by_policy',
        `The policy ${names[0]} refuses more of this for now. Try again in ${retryAfter} seconds.`,
        retryAfter === undefined ? {} : { retryAfter },
      )
    case 'hook_refused':
      return new BrokerError(
        'denied_by_policy',
        `The hook of the policy ${names[0]} refuses this${message === undefined ? '.' : `: ${message}`}`,
      )
    case 'hook_failed':
      return new BrokerError(
        'policy_check_failed',
        `The hook of the policy ${names[0]} must agree to this and gave no answer. Try again; if it goes on, tell an administrator of this project.`,
        { retryAfter: 1 },
      )
  }
}
