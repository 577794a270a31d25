import { ruleKey } from '../../domain/approval.ts'
import type { RequestedUse } from '../../domain/requested-use.ts'
import { createReadCache } from '../../services/read-cache.ts'
import { type Release, userOf } from '../../services/release.ts'
import { currentContext } from '../../services/request-context.ts'
import { inSpan } from '../../services/tracing.ts'
import { ApprovalMissing, type UseGate } from '../../services/use-gate.ts'
import { releasedProvider } from '../../services/used-provider.ts'
import { UnsealError } from '../../store/seal.ts'
import type { GateParts } from '../feature.ts'
import { approvalRule, mayHold } from './approval-rule.ts'
import { createArgumentVerdicts, type JudgeArguments } from './argument-verdicts.ts'
import type { Policy } from './domain.ts'
import { type AppliedPolicy, type Evaluation, evaluate, type PolicyRefusalReason } from './evaluate.ts'
import { type Agreement, agreementOn, covers } from './hook-agreement.ts'
import { hookSecretOf } from './hook-secret.ts'
import { createOutsideDecisions, type HeldByHook } from './outside-decisions.ts'
import { askHook } from './policy-hook.ts'
import type { EvaluationContext } from './policy-match.ts'
import { createQuotas, type UsedUp } from './policy-quota.ts'
import { createRates } from './policy-rate.ts'
import { idsOf, refusalOf } from './policy-refusal.ts'
import { readFor } from './policy-trial.ts'
import type { PoliciesInForce } from './store-policies.ts'

/** The policies that the gate evaluated; without a promise if they are cached. */
type Evaluated = PoliciesInForce | Promise<PoliciesInForce>

const MAX_CACHED_PROJECTS = 1_000

/**
 * Enforces a project's policies: who may use which tokens for what. A refusal is recorded in the audit trail with the rule
 * that refused. In a project without policies, a check costs one cache look-up.
 */
export function createPolicyGate(
  { store, outgoing, sealer, audit, metrics, log, now, tracing }: GateParts,
  judgeArguments: JudgeArguments,
): UseGate {
  const cache = createReadCache<PoliciesInForce>(store, {
    max: MAX_CACHED_PROJECTS,
    forgets: (change) => (change.noun === 'policy' ? 'all' : undefined),
  })
  const rates = createRates()
  const verdicts = createArgumentVerdicts(judgeArguments)
  const quotas = createQuotas(store.quotaCounts, now)
  const outsideOf = createOutsideDecisions({ store, sealer, outgoing, now }, refuse)
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
    const judge = scopes === 'needed' ? verdicts.judge : verdicts.recall
    const judged = judge(policies, use, { at, scopes })
    if (judged instanceof Promise)
      return judged.then((verdicts) =>
        act(evaluate(policies, use, { at, scopes, verdicts }), use, once, { at, scopes }),
      )
    return act(evaluate(policies, use, { at, scopes, ...(judged && { verdicts: judged }) }), use, once, {
      at,
      scopes,
    })
  }

  /** Refuses the use or counts it and asks; no promise if there is nothing to do. */
  function act(
    evaluation: Evaluation,
    use: RequestedUse,
    once: object,
    { at, scopes }: EvaluationContext,
  ): Promise<void> | undefined {
    const { refusal, limits, quotas, hooks, approvals, approvalsBeyond } = evaluation
    const unapproved = scopes === 'granted' ? approvals.filter(({ policy }) => !isApproved(policy)) : []
    const isSettled = [limits, quotas, hooks, unapproved, approvalsBeyond].every(({ length }) => length === 0)
    if (refusal === undefined && isSettled) return undefined
    return settle(evaluation, use, once, { at, scopes }).then(() => {
      const beyond = scopes === 'granted' ? beyondQuota(approvalsBeyond, once) : []
      const missing = [...unapproved, ...beyond.filter(({ policy }) => !isApproved(policy))]
      // a run asks before its tokens are released; otherwise the release asks
      if (missing.length > 0 && use.use !== 'tool') throw new ApprovalMissing(use)
      if (missing.length > 0) return refuse(use, 'not_approved', missing)
      // a tool's run is counted when it starts; a token or a forwarded request when the token leaves
      return scopes === 'granted' && use.use !== 'tool' ? countQuotas(use, once) : undefined
    })
  }

  /** Refuses the use, or counts it and asks the hooks. */
  async function settle(
    { refusal, limits, quotas: applied, hooks, approvalsBeyond }: Evaluation,
    use: RequestedUse,
    once: object,
    { at, scopes }: EvaluationContext,
  ): Promise<void> {
    if (refusal !== undefined) return refuse(use, refusal.reason, refusal.by)

    const done = settled.get(once) ?? {
      counted: new Set<string>(),
      within: new Set<string>(),
      agreed: new Map(),
      held: new Map(),
      quotas: new Map(),
      beyond: new Set<string>(),
      isStarted: false,
    }
    settled.set(once, done)
    // the release of tokens names itself, and people are asked about the use
    settled.set(use, done)
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
    const open = applied.flatMap(({ policy }) => (done.isStarted ? [] : [policy]))
    for (const policy of open) done.quotas.set(policy.id, policy)
    if (open.length > 0) await refuseUsedUp(use, await quotas.findUsedUp(open, use))
    for (const { policy } of approvalsBeyond) {
      if (done.isStarted || done.quotas.has(policy.id) || done.beyond.has(policy.id)) continue
      if ((await quotas.findUsedUp([policy], use)) === undefined) done.quotas.set(policy.id, policy)
      else done.beyond.add(policy.id)
    }
    // counted before hooks are asked, so that concurrent uses cannot exceed the limit meanwhile
    for (const { policy } of counted) {
      rates.count(policy, use, at)
      done.counted.add(policy.id)
    }
    for (const match of asked) {
      const { policy } = match
      const held = await askHookOf(match, use)
      // only a run asks outside, before its tokens are released
      const mayAsk = scopes === 'needed' && use.use === 'tool' && use.tool !== undefined
      if (held !== undefined && !mayAsk) return refuse(use, 'hook_refused', [match], held)
      if (held !== undefined) {
        done.held.set(policy.id, { ...held, match })
        continue
      }
      done.held.delete(policy.id)
      done.agreed.set(policy.id, agreementOn(policy, use))
    }
  }

  /** Counts the use for the quotas that it was found to need, once. */
  async function countQuotas(use: RequestedUse, once: object): Promise<void> {
    const done = settled.get(once)
    if (done === undefined || done.isStarted || done.quotas.size === 0) return
    const usedUp = await quotas.take([...done.quotas.values()], use)
    if (usedUp?.policy.effect === 'approve') {
      // another use got the last one since: a person is asked about this one
      done.quotas.delete(usedUp.policy.id)
      done.beyond.add(usedUp.policy.id)
      throw new ApprovalMissing(use)
    }
    await refuseUsedUp(use, usedUp)
    done.isStarted = true
  }

  /** The rules whose quota is used up for the use. */
  function beyondQuota(rules: readonly AppliedPolicy[], once: object): readonly AppliedPolicy[] {
    return rules.filter(({ policy }) => settled.get(once)?.beyond.has(policy.id) === true)
  }

  async function refuseUsedUp(use: RequestedUse, used: UsedUp | undefined): Promise<void> {
    if (used !== undefined)
      await refuse(use, 'quota', [{ policy: used.policy }], { retryAfter: used.retryAfter })
  }

  /** Returns what an access request may change. Throws where the hook refuses. */
  async function askHookOf(match: AppliedPolicy, use: RequestedUse): Promise<Requestable | undefined> {
    const { policy } = match
    const { hook, id } = policy
    if (hook === undefined) return refuse(use, 'hook_failed', [match])
    let secret: string | undefined
    try {
      secret = hookSecretOf(sealer, policy)
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error
      // even if `onFailure` is `allow`: a hook whose secret was altered must not count as agreement
      return refuse(use, 'hook_failed', [match])
    }
    const answer = await askHook(outgoing, { id, hook }, secret, use, now())
    switch (answer.outcome) {
      case 'agreed':
        return
      case 'requestable':
        return answer
      case 'refused':
        return refuse(use, 'hook_refused', [match], answer)
      case 'failed':
        log.warn(
          { policy: id, reason: answer.message, onFailure: hook.onFailure },
          'a policy hook gave no answer',
        )
        return hook.onFailure === 'deny' ? refuse(use, 'hook_failed', [match]) : undefined
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
        const use = { ...(permitted ?? useByCaller(first)), providers: releases.map(releasedProvider) }
        return decide(policies, use, permitted ?? once, 'granted')
      })
      return evaluated instanceof Promise ? evaluated.then((inForce) => [inForce]) : [evaluated]
    },

    checkStart(use) {
      const { quotas, held, agreed } = settled.get(use) ?? {}
      const unconfirmed = [...(held?.values() ?? [])].find(({ match }) => !agreed?.has(match.policy.id))
      if (unconfirmed !== undefined) return refuse(use, 'hook_refused', [unconfirmed.match], unconfirmed)
      return quotas === undefined || quotas.size === 0 ? undefined : countQuotas(use, use)
    },

    async checkConsent(need) {
      await withPolicies(need.projectId, idsIn(need), (policies) => {
        const use: RequestedUse = { ...need, use: 'token', hosts: [] }
        const { refusal } = evaluate(alwaysDenying(policies), use, { at: now(), scopes: 'needed' })
        return refusal && refuse(use, refusal.reason, refusal.by)
      })
    },

    async approvals(projectId) {
      const { policies, version } = await inForce(projectId)
      const asking = policies.filter(mayHold)
      if (asking.length === 0) return undefined
      return {
        keys: new Set(asking.map((policy) => ruleKey(approvalRule(policy)))),
        matching(use) {
          const context = { at: now(), scopes: 'granted' } as const
          const known = verdicts.recalled(policies, use, context)
          const { approvals, approvalsBeyond } = evaluate(policies, use, { ...context, verdicts: known })
          const { permitted = use } = currentContext()
          const once = settled.has(use) ? use : permitted
          const { held = new Map(), agreed = new Map() } = settled.get(once) ?? {}
          const outside: HeldByHook[] = [...held.values()]
          const beyond = beyondQuota(approvalsBeyond, once)
          const asking = [...approvals, ...beyond, ...outside.map(({ match }) => match)]
          return {
            rules: asking.map(({ policy }) => approvalRule(policy)),
            versions: [{ version }],
            outside:
              outside.length === 0
                ? undefined
                : outsideOf(permitted, outside, (policy) =>
                    agreed.set(policy.id, agreementOn(policy, permitted)),
                  ),
          }
        },
      }
    },

    async alwaysRefused(projectId) {
      const { policies } = await inForce(projectId)
      if (policies.length === 0) return undefined
      const lasting = policies.flatMap((policy): Policy[] => {
        const { time, arguments: _, ...match } = policy.match
        if (time === undefined && policy.match.arguments === undefined) return [policy]
        // at other times or with other arguments a `deny` rule does not refuse, and an `allow` rule may allow
        return policy.effect === 'allow' ? [{ ...policy, match }] : []
      })
      // a call may name an account of another owner
      const ofAnyOwner = lasting.map((policy) => readFor(policy, ['owners'], 'lenient'))
      return (use) => {
        const areKnown = use.providers.every(({ owner }) => owner !== undefined)
        const rules = areKnown ? lasting : ofAnyOwner
        return evaluate(rules, use, { at: now(), scopes: 'needed' }).refusal !== undefined
      }
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
    ({ effect, match: { users, workers, providers, owners, scopes, ...others } }) => {
      return effect === 'deny' && Object.values(others).every((member) => member === undefined)
    },
  )
  denying.set(policies, always)
  return always
}

/** Whether a person has approved the use that runs, as the rule asks. */
function isApproved(policy: Policy): boolean {
  return currentContext().approved?.has(ruleKey(approvalRule(policy))) === true
}

type Requestable = Omit<HeldByHook, 'match'>

interface Settled {
  /** Rules whose rate has counted the use. */
  readonly counted: Set<string>
  /** Rules with a hook whose rate the use did not exceed. */
  readonly within: Set<string>
  /** What hooks agreed to, by the ids of their rules. */
  readonly agreed: Map<string, Agreement>
  /** What hooks refused, but an access request may change, by the ids of their rules. */
  readonly held: Map<string, HeldByHook>
  /** Rules whose quota counts the use when it starts, by their ids. */
  readonly quotas: Map<string, Policy>
  /** Rules that ask people about the use, because their quota is used up. */
  readonly beyond: Set<string>
  /** Whether the quotas have counted the use. */
  isStarted: boolean
}

/** The use that `check` permitted, if these tokens belong to its user and project. */
function permittedFor(releases: readonly Release[]): RequestedUse | undefined {
  const { permitted } = currentContext()
  const isTheirs = releases.every(
    (release) =>
      release.connection.projectId === permitted?.projectId && userOf(release) === permitted.userId,
  )
  return isTheirs ? permitted : undefined
}

function useByCaller(release: Release): RequestedUse {
  const { projectId } = release.connection
  return { projectId, userId: userOf(release), use: 'token', providers: [], hosts: [] }
}
