import type { Broker } from '../../broker.ts'
import { isExpired } from '../../domain/api-key.ts'
import type { ApproverGroup } from '../../domain/approval.ts'
import { invalidMember } from '../../domain/errors.ts'
import { readAudit } from '../../flows/audit/read-audit.ts'
import { isOn } from '../../flows/console/console-session.ts'
import type { Policy } from './domain.ts'

// An approval that can never be given is refused when the policy is set, not when a tool is called.

/** How many of the latest links to `/me` are read. */
const LATEST_LINKS = 100
/** Each of these claims has one value for one person, and no other person has it. */
const PERSONAL_CLAIMS = ['sub', 'email']

/** Throws `invalid_request` if no one can give the approval that the policy asks for. */
export async function checkReach(broker: Broker, { projectId, effect, approve }: Policy): Promise<void> {
  if (effect !== 'approve') return
  const by = approve?.by ?? 'user'
  if (typeof by === 'object') return checkGroup(broker, projectId, by)
  return checkUser(broker, projectId)
}

/** Without a verifier only an application that makes links to `/me` vouches for its users. */
async function checkUser(broker: Broker, projectId: string): Promise<void> {
  const { development, verifier } = broker.settings
  if (development || verifier.kind !== 'open' || (await hasLinksToApprove(broker, projectId))) return
  throw invalidMember(
    'approve.by',
    'not_allowed',
    'approve.by: the user cannot be asked, since this Gatepass does not verify users (GATEPASS_USER_VERIFIER=open). Set a verifier, name a group of approvers, or let your application first make a link to /me with the right `approve` (POST /v1/users/{user_id}/portal).',
  )
}

/** Whether an application makes links with which users decide: one of the latest is such a link. */
async function hasLinksToApprove(broker: Broker, projectId: string): Promise<boolean> {
  let read = 0
  for await (const { scopes } of readAudit(broker, projectId, { action: 'portal.linked' }, 'newest first')) {
    if (Array.isArray(scopes) && scopes.includes('approve')) return true
    read += 1
    if (read === LATEST_LINKS) return false
  }
  return false
}

async function checkGroup(broker: Broker, projectId: string, { group, count }: ApproverGroup): Promise<void> {
  const members = await membersOf(broker, projectId, group)
  if (members === 0)
    throw invalidMember(
      'approve.by.group',
      'unknown',
      `approve.by.group: this project has no approver of the group "${group}". Give people the role approver:${group} in GATEPASS_DASHBOARD_ROLES, or make a key: gatepass keys create --role approver --group ${group}.`,
    )
  if (members < count)
    throw invalidMember(
      'approve.by.count',
      'too_large',
      `approve.by.count: GATEPASS_DASHBOARD_ROLES gives the group "${group}" to fewer than ${count} people, and the project has no key of the role approver for it.`,
    )
}

/** The most people who may be of the group, as far as that is known; infinite where a claim or a key names any number. */
async function membersOf(
  { settings, store, now }: Broker,
  projectId: string,
  group: string,
): Promise<number> {
  const keys = await store.apiKeys.list(projectId)
  const isLive = keys.some(
    (key) =>
      key.role === 'approver' &&
      key.revokedAt === undefined &&
      !isExpired(key, now()) &&
      (key.groups === undefined || key.groups.includes(group)),
  )
  if (isLive) return Number.POSITIVE_INFINITY
  const { serve, issuer } = settings.dashboard
  if (serve === 'off' || issuer === undefined) return 0
  const { name = '' } = (await store.projects.find(projectId)) ?? {}
  const rules = issuer.rules.filter((rule) => rule.group === group && isOn(rule, name))
  if (rules.some(({ claim }) => !PERSONAL_CLAIMS.includes(claim))) return Number.POSITIVE_INFINITY
  return new Set(rules.map(({ claim, value }) => `${claim}=${value}`)).size
}
