import type { Broker } from '../../broker.ts'
import type { ApprovalTerms } from '../../domain/approval.ts'
import { BrokerError, type FaultCode, invalidMember } from '../../domain/errors.ts'
import { checkReachable, invalidUrl } from '../../egress/reachable-url.ts'
import { changeRow } from '../../services/change-row.ts'
import { checkReach } from './approver-reach.ts'
import { checkArgumentRules } from './argument-rules.ts'
import { type Policy, type PolicyHook, type PolicyMatch, policyUid } from './domain.ts'
import { EVALUATION_PATH } from './hook-authzen.ts'
import { isTimeZone } from './policy-time.ts'
import { policyContext } from './store.ts'

/** The settings of a policy. */
export interface PolicySettings {
  readonly description?: string
  readonly enabled: boolean
  readonly effect: Policy['effect']
  readonly match: PolicyMatch
  /** Only with the effect `hook`, which requires it. */
  readonly hook?: PolicyHook
  readonly hookSecret?: string
  /** Only with the effect `approve`. Default: by the user, once. */
  readonly approve?: ApprovalTerms
}

/** A change: absent members stay, `null` removes one. */
export interface PolicyChanges extends Partial<Omit<PolicySettings, 'description' | 'hook' | 'hookSecret'>> {
  readonly description?: string | null
  readonly hook?: Partial<PolicyHook>
  readonly hookSecret?: string | null
}

/** Adds a policy. Throws `already_exists`, `invalid_request` for a contradictory rule, `host_not_allowed` for its hook's URL. */
export async function addPolicy(
  broker: Broker,
  projectId: string,
  id: string,
  { hookSecret, ...settings }: PolicySettings,
): Promise<Policy> {
  const now = broker.now()
  const policy = checked(broker, {
    id,
    projectId,
    ...settings,
    ...(hookSecret !== undefined && { hookSecret: sealed(broker, { id, projectId }, hookSecret) }),
    createdAt: now,
    updatedAt: now,
  })
  await checkReach(broker, policy)
  const added = await broker.store.policies.add(policy, auditOf(broker, policy))
  if (added === undefined)
    throw new BrokerError(
      'already_exists',
      `There is a policy "${id}" already. PATCH /v1/admin/policies/${id} changes it.`,
    )
  return added
}

/**
 * Changes a policy. Throws like `addPolicy`, and `not_found` when it was deleted. A hook's secret is never sent to another
 * origin than the one for which it was set.
 */
export async function changePolicy(broker: Broker, policy: Policy, changes: PolicyChanges): Promise<Policy> {
  const { projectId, id } = policy
  const read = () => getPolicy(broker, projectId, id)
  return changeRow(`The policy "${id}"`, policy, read, async (before) => {
    const changed = checked(broker, merged(broker, before, changes))
    // a policy whose approvers are gone can still be disabled and described
    if (changes.approve !== undefined || changes.effect !== undefined || changes.enabled === true)
      await checkReach(broker, changed)
    return broker.store.policies.change(before, changed, auditOf(broker, before))
  })
}

function merged(broker: Broker, policy: Policy, changes: PolicyChanges): Policy {
  const { description, hook: newHook, hookSecret: newSecret, ...rest } = changes
  const { description: oldDescription, hook: oldHook, hookSecret: oldSecret, ...kept } = policy
  const effect = rest.effect ?? policy.effect
  // the terms of a rule that no longer asks are gone, as its hook is
  const { approve: _, ...others } = kept
  const approve = effect === 'approve' ? (rest.approve ?? policy.approve) : rest.approve
  if (effect !== 'hook' && newHook !== undefined) throw hookNotOf(effect)
  const hook = effect === 'hook' ? mergedHook(oldHook, newHook) : undefined
  const secret =
    newSecret === undefined ? oldSecret : newSecret === null ? undefined : sealed(broker, policy, newSecret)
  const leads = oldHook !== undefined && hook !== undefined && originOf(oldHook.url) !== originOf(hook.url)
  if (leads && oldSecret !== undefined && newSecret === undefined)
    throw invalidMember(
      'hook.secret',
      'missing',
      'hook.url leads to another server than before: give hook.secret again, or null for none.',
    )
  const described = description === undefined ? oldDescription : (description ?? undefined)
  return {
    ...others,
    ...rest,
    ...(approve && { approve }),
    ...(described !== undefined && { description: described }),
    ...(hook && { hook }),
    ...(hook && secret !== undefined && { hookSecret: secret }),
    updatedAt: broker.now(),
  }
}

/** The project's policy of that id. Throws `not_found`. */
export async function getPolicy(broker: Broker, projectId: string, id: string): Promise<Policy> {
  const policy = await broker.store.policies.find(projectId, id)
  if (policy === undefined)
    throw new BrokerError('not_found', `There is no policy "${id.slice(0, 100)}" in this project.`)
  return policy
}

/** Deletes a policy. Throws `not_found`. */
export async function deletePolicy(broker: Broker, projectId: string, id: string): Promise<void> {
  const audit = broker.audit.of(projectId, { action: 'policy.deleted', subject: id })
  // deleted without reading it first: a row with a wrong MAC cannot be read, but can be deleted
  if (!(await broker.store.policies.delete(projectId, id, audit))) await getPolicy(broker, projectId, id)
}

/**
 * The project's rules for a dry run: those of `tried` replace or extend the stored ones, and those of `without` are left out.
 * Throws like `addPolicy`, and `invalid_request` for an id in `without` that no rule has.
 */
export async function policiesWith(
  broker: Broker,
  projectId: string,
  tried: ReadonlyMap<string, PolicySettings>,
  without: readonly string[],
): Promise<readonly Policy[]> {
  const known = await broker.store.policies.list(projectId)
  const unknown = without.find((id) => !known.some((policy) => policy.id === id))
  if (unknown !== undefined)
    throw invalidMember(
      'without',
      'unknown',
      `without: there is no policy "${unknown.slice(0, 100)}" in this project.`,
    )
  const now = broker.now()
  const added = [...tried].map(([id, { hookSecret: _, ...settings }]) =>
    checked(broker, { id, projectId, ...settings, createdAt: now, updatedAt: now }),
  )
  const kept = known.filter(({ id }) => !tried.has(id) && !without.includes(id))
  return [...kept, ...added].sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Throws `invalid_request` for a contradictory rule, `host_not_allowed` for its hook's URL. */
function checked(broker: Broker, policy: Policy): Policy {
  checkRule(policy)
  if (policy.hook !== undefined) checkHookUrl(broker, policy.hook)
  return policy
}

function auditOf(broker: Broker, { id, projectId }: Policy) {
  return broker.audit.of(projectId, { action: 'policy.set', subject: id })
}

const HOOK_DEFAULTS = { format: 'arcade', timeoutMs: 2_000, onFailure: 'deny' } as const

function mergedHook(
  old: PolicyHook | undefined,
  { url = old?.url, ...said }: Partial<PolicyHook> = {},
): PolicyHook | undefined {
  return url === undefined ? undefined : { ...HOOK_DEFAULTS, ...old, ...said, url }
}

function checkRule({ effect, match, hook, approve }: Policy): void {
  const { time, rate, quota } = match
  checkArgumentRules(match.arguments ?? [])
  const refuse = (path: string, code: FaultCode, message: string) => {
    throw invalidMember(path, code, message)
  }
  if (effect === 'hook' && hook === undefined)
    refuse(
      'hook',
      'missing',
      'A policy of the effect hook needs `hook` {url, timeout_ms, on_failure, secret}.',
    )
  if (effect !== 'hook' && hook !== undefined) throw hookNotOf(effect)
  if (effect !== 'approve' && approve !== undefined)
    refuse(
      'approve',
      'not_allowed',
      `\`approve\` belongs to the effect approve; this policy has the effect ${effect}.`,
    )
  if (approve?.remember.includes('standing') === true && match.hints?.includes('destructive') === true)
    refuse(
      'approve.remember',
      'conflict',
      'approve.remember: a call that may destroy something is not approved until that is taken back. Leave out standing, or `destructive` in match.hints.',
    )
  if ((effect === 'allow' || effect === 'approve') && rate !== undefined)
    refuse(
      'match.rate',
      'not_allowed',
      'match.rate belongs to the effects deny and hook: to limit a use, add a deny rule with the rate.',
    )
  if (effect !== 'deny' && effect !== 'approve' && quota !== undefined)
    refuse(
      'match.quota',
      'not_allowed',
      'match.quota belongs to the effects deny and approve: add a rule of one of these with the quota.',
    )
  if (rate !== undefined && quota !== undefined)
    refuse('match.quota', 'not_allowed', 'match.quota does not go with match.rate: make a rule of each.')
  if (quota?.zone !== undefined && !isTimeZone(quota.zone)) throw noZone('match.quota.zone', quota.zone)
  if (time === undefined) return
  if (isZoneAlone(time)) refuse('match.time', 'missing', 'match.time needs days, from or to.')
  if ((time.from ?? '00:00') === time.to)
    refuse(
      'match.time.to',
      'invalid',
      'match.time has no minute in it: from and to are the same. Leave both out for whole days.',
    )
  if (time.zone !== undefined && !isTimeZone(time.zone)) throw noZone('match.time.zone', time.zone)
}

function noZone(path: string, zone: string): BrokerError {
  const name = zone.slice(0, 60)
  return invalidMember(
    path,
    'invalid',
    `${path}: there is no time zone "${name}". Use an IANA name, such as Europe/Berlin.`,
  )
}

function hookNotOf(effect: Policy['effect']): BrokerError {
  return invalidMember(
    'hook',
    'not_allowed',
    `\`hook\` belongs to the effect hook; this policy has the effect ${effect}.`,
  )
}

function isZoneAlone({ days, from, to }: NonNullable<PolicyMatch['time']>): boolean {
  return days === undefined && from === undefined && to === undefined
}

function checkHookUrl(broker: Broker, { url, format }: PolicyHook): void {
  if (!/^https?:/i.test(url)) throw invalidUrl('hook.url')
  checkReachable(broker.outgoing, 'hook.url', url)
  const { pathname, search, hash } = new URL(url)
  if (format === 'authzen' && (search !== '' || hash !== '' || pathname.includes(EVALUATION_PATH)))
    throw invalidMember(
      'hook.url',
      'invalid',
      `hook.url: with the format authzen this is the address of the policy decision point, such as https://pdp.example.com, without query and fragment. Gatepass appends ${EVALUATION_PATH}.`,
    )
}

function originOf(url: string): string {
  return new URL(url).origin
}

function sealed(broker: Broker, { id, projectId }: Pick<Policy, 'id' | 'projectId'>, secret: string) {
  return broker.sealer.seal(
    secret,
    policyContext('policies', 'hook_secret', { uid: policyUid(id, projectId), projectId }),
  )
}
