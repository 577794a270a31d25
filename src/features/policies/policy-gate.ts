import type { EpochSeconds } from '../../domain/clock.ts'
import type { RequestedUse, UsedProvider } from '../../domain/requested-use.ts'
import { createReadCache } from '../../services/read-cache.ts'
import type { Release } from '../../services/release.ts'
import { currentContext } from '../../services/request-context.ts'
import { inSpan } from '../../services/tracing.ts'
import type { UseGate } from '../../services/use-gate.ts'
import { usedProvider } from '../../services/used-provider.ts'
import { UnsealError } from '../../store/seal.ts'
import type { GateParts } from '../feature.ts'
import { type Policy, policyUid } from './domain.ts'
import { type AppliedPolicy, type Evaluation, evaluate, type PolicyRefusalReason } from './evaluate.ts'
import { type Agreement, agreementOn, covers } from './hook-agreement.ts'
import { askHook } from './policy-hook.ts'
import type { EvaluationContext } from './policy-match.ts'
import { createRates } from './policy-rate.ts'
import { idsOf, refusalOf } from './policy-refusal.ts'
import { policyContext } from './store.ts'
import type { PoliciesInForce } from './store-policies.ts'

/** The policies that the gate evaluated; without a promise if they are cached. */
type Evaluated = PoliciesInForce | Promise<PoliciesInForce>

const MAX_CACHED_PROJECTS = 1_000

/**
 * Enforces a project's policies: who may use which tokens for what. A refusal is recorded in the audit trail with the rule
 * that refused. In a project without policies, a check costs one cache look-up.
 */
export function createPolicyGate({
  store,
  outgoing,
  sealer,
  audit,
  metrics,
  log,
  now,
  tracing,
}: GateParts): UseGate {
  const cache = createReadCache<PoliciesInForce>(store, {
    max: MAX_CACHED_PROJECTS,
    forgets: (change) => (change.noun === 'policy' ? 'all' : undefined),
  })
  const rates = createRates()
  /** For each use under way: the rules that have counted it, and what hooks have agreed to. */
  const settled = new WeakMap<object, Settled>()
  const refusals = metrics.counter('gatepass_policy_refusals_total', 'Uses that a policy refused', [
    'policy',
    'reason',
  ])

  function inForce(projectId: string): Evaluated {
    return cache.get(projectId, () => store.policies.inForce(projectId))
  }

  /** Returns the policies, unless `decide` refuses; no promise if they are cached and `decide` returns nothing. */
  function withPolicies(
    projectId: string,
    providerIds: () => readonly string[],
    decide: (policies: readonly Policy[]) => Promise<void> | undefined,
  ): Evaluated {
    const traced = (policies: readonly Policy[]) =>
      tracing === undefined
        ? decide(policies)
        : inSpan(
            tracing,
            { name: 'policy check', attributes: { 'gatepass.provider': providerIds().join() } },
            () => decide(policies),
            () => ({ attributes: { 'gatepass.outcome': 'permitted' } }),
          )
    const evaluated = (read: PoliciesInForce) => {
      const deciding = read.policies.length > 0 ? traced(read.policies) : undefined
      return deciding === undefined ? read : deciding.then(() => read)
    }
    const policies = inForce(projectId)
    return policies instanceof Promise ? policies.then(evaluated) : evaluated(policies)
  }

  function decide(
    policies: readonly Policy[],
    use: RequestedUse,
    once: object,
    scopes: EvaluationContext['scopes'],
  ): Promise<void> | undefined {
    const at = now()
    const evaluation = evaluate(policies, use, { at, scopes })
    const { refusal, limits, hooks } = evaluation
    if (refusal === undefined && limits.length === 0 && hooks.length === 0) return undefined
    return settle(evaluation, use, once, at)
  }

  /** Refuses the use, or counts it and asks the hooks. */
  async function settle(
    { refusal, limits, hooks }: Evaluation,
    use: RequestedUse,
    once: object,
    at: EpochSeconds,
  ): Promise<void> {
    if (refusal !== undefined) return refuse(use, refusal.reason, refusal.by)

    const done = settled.get(once) ?? {
      counted: new Set<string>(),
      within: new Set<string>(),
      agreed: new Map(),
    }
    settled.set(once, done)
    const isNew = ({ policy }: AppliedPolicy) => !done.counted.has(policy.id)
    const asked = hooks.filter(({ policy }) => {
      const agreement = done.agreed.get(policy.id)
      if (agreement !== undefined) return !covers(agreement, policy, use)
      if (policy.match.rate === undefined) return true
      const isWithin = done.within.has(policy.id) || rates.secondsUntilWithinRate(policy, use, at) === 0
      if (isWithin) done.within.add(policy.id)
      return !isWithin
    })
    const counted = [...limits, ...hooks]
      .filter(isNew)
      .filter(({ policy }) => policy.match.rate !== undefined)
    for (const match of limits.filter(isNew)) {
      const seconds = rates.secondsUntilWithinRate(match.policy, use, at)
      if (seconds > 0) return refuse(use, 'rate', [match], { retryAfter: seconds })
    }
    // counted before hooks are asked, so that concurrent uses cannot exceed the limit meanwhile
    for (const { policy } of counted) {
      rates.count(policy, use, at)
      done.counted.add(policy.id)
    }
    for (const match of asked) {
      await askHookOf(match, use)
      done.agreed.set(match.policy.id, agreementOn(match.policy, use))
    }
  }

  async function askHookOf(match: AppliedPolicy, use: RequestedUse): Promise<void> {
    const { policy } = match
    const { hook, hookSecret, id, projectId } = policy
    if (hook === undefined) return refuse(use, 'hook_failed', [match])
    let secret: string | undefined
    try {
      secret =
        hookSecret &&
        sealer.open(
          hookSecret,
          policyContext('policies', 'hook_secret', { uid: policyUid(id, projectId), projectId }),
        )
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error
      // even if `onFailure` is `allow`: a hook whose secret was altered must not count as agreement
      return refuse(use, 'hook_failed', [match])
    }
    const answer = await askHook(outgoing, { ...policy, hook }, secret, use)
    switch (answer.outcome) {
      case 'agreed':
        return
      case 'refused':
        return refuse(use, 'hook_refused', [match], answer)
      case 'failed':
        log.warn(
          { policy: id, reason: answer.message, onFailure: hook.onFailure },
          'a policy hook gave no answer',
        )
        if (hook.onFailure === 'deny') return refuse(use, 'hook_failed', [match])
    }
  }

  async function refuse(
    use: RequestedUse,
    reason: PolicyRefusalReason,
    by: readonly AppliedPolicy[],
    more: { readonly message?: string; readonly retryAfter?: number } = {},
  ): Promise<never> {
    const { userId, tool, projectId } = use
    const provider = by[0]?.provider
    const subject = idsOf(by).join()
    refusals.increment(subject, reason)
    await audit.record(projectId, {
      action: 'policy.refused',
      subject,
      userId,
      ...(provider && { providerId: provider.id, scopes: provider.scopes }),
      ...(tool && { tool: tool.id }),
      reason,
    })
    throw refusalOf(reason, by, more)
  }

  return {
    async check(use) {
      await withPolicies(use.projectId, idsIn(use), (policies) => decide(policies, use, use, 'needed'))
    },

    checkRelease(releases, once) {
      const [first] = releases
      const ids = () => releases.map(({ entry }) => entry.id)
      const evaluated = withPolicies(first.connection.projectId, ids, (policies) => {
        const permitted = permittedFor(releases)
        const use = { ...(permitted ?? useByCaller(first)), providers: releases.map(providerOf) }
        return decide(policies, use, permitted ?? once, 'granted')
      })
      return evaluated instanceof Promise ? evaluated.then((inForce) => [inForce]) : [evaluated]
    },

    async checkConsent(need) {
      await withPolicies(need.projectId, idsIn(need), (policies) => {
        const use: RequestedUse = { ...need, use: 'token', hosts: [] }
        const { refusal } = evaluate(alwaysDenying(policies), use, { at: now(), scopes: 'needed' })
        return refusal && refuse(use, refusal.reason, refusal.by)
      })
    },

    async alwaysRefused(projectId) {
      const { policies } = await inForce(projectId)
      if (policies.length === 0) return undefined
      const lasting = policies.flatMap((policy): Policy[] => {
        const { time, ...match } = policy.match
        if (time === undefined) return [policy]
        // at other times a `deny` or `hook` rule does not refuse, and an `allow` rule allows at some time
        return policy.effect === 'allow' ? [{ ...policy, match }] : []
      })
      return (use) => evaluate(lasting, use, { at: now(), scopes: 'needed' }).refusal !== undefined
    },

    nouns: ['policy'],
  }
}

function idsIn({ providers }: Pick<RequestedUse, 'providers'>): () => readonly string[] {
  return () => providers.map(({ id }) => id)
}

const denying = new WeakMap<readonly Policy[], readonly Policy[]>()

/** The rules that deny every use of a token, at any time. */
function alwaysDenying(policies: readonly Policy[]): readonly Policy[] {
  const known = denying.get(policies)
  if (known !== undefined) return known
  const always = policies.filter(
    ({ effect, match: { tools, hosts, uses, time, rate } }) =>
      effect === 'deny' && [tools, hosts, uses, time, rate].every((member) => member === undefined),
  )
  denying.set(policies, always)
  return always
}

interface Settled {
  /** Rules whose rate has counted the use. */
  readonly counted: Set<string>
  /** Rules with a hook whose rate the use did not exceed. */
  readonly within: Set<string>
  /** What hooks agreed to, by the ids of their rules. */
  readonly agreed: Map<string, Agreement>
}

/** The use that `check` permitted, if these tokens belong to its user and project. */
function permittedFor(releases: readonly Release[]): RequestedUse | undefined {
  const { permitted } = currentContext()
  const isTheirs = releases.every(
    ({ connection }) =>
      connection.projectId === permitted?.projectId && connection.userId === permitted.userId,
  )
  return isTheirs ? permitted : undefined
}

function useByCaller({ connection: { projectId, userId } }: Release): RequestedUse {
  return { projectId, userId, use: 'token', providers: [], hosts: [] }
}

function providerOf({ entry, connection, userInfo }: Release): UsedProvider {
  return { ...usedProvider(entry, connection.scopes), userInfo }
}
