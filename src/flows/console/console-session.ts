import type { Broker } from '../../broker.ts'
import { type ApiKey, isExpired } from '../../domain/api-key.ts'
import type { AuditActor } from '../../domain/audit.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import { sha256 } from '../../domain/ids.ts'
import { DEFAULT_PROJECT, type Project } from '../../domain/project.ts'
import { inContext } from '../../services/request-context.ts'
import {
  beginPageSession,
  changePageSession,
  isRecentLogin,
  type OpenedPageSession,
  openPageSession,
} from '../page-session.ts'

// The session of an operator in the console. After a login with an API key, the operator has the key's role in the key's
// project, as long as the key is valid. After a login at the issuer, the operator has the roles that the rules of the
// settings give; the session ends when those settings change.

/** `approver`: sees and decides calls that wait for the operator's groups, and nothing else. */
export type ConsoleRole = 'admin' | 'readonly' | 'approver'

export interface ConsoleSession {
  readonly opened: OpenedPageSession
  /** The project that the pages show, and the role there. */
  readonly project: Project
  readonly role: ConsoleRole
  /** The groups of approvers of the shown project to which the operator belongs, with any role. */
  readonly groups: readonly string[]
  /** The projects between which the operator may choose. */
  readonly projects: readonly Project[]
  readonly actor: AuditActor
  /** The caller, as the API's handlers expect it. For an operator of the issuer it is a key without an id. */
  readonly caller: ApiKey
  /** The name of the key, or of the person at the issuer. */
  readonly display: string
  /** Whether the login is at most five minutes old. */
  readonly isRecent: boolean
}

/** A role in a project, as a session of the issuer holds it: `admin on default`, `approver:security on *`. */
export interface RoleGrant {
  readonly role: ConsoleRole
  /** Of an `approver`. */
  readonly group?: string | undefined
  readonly project: string
}

const BY_KEY = 'key'

/** The session of the cookie's token; `undefined`: the operator must log in. */
export async function openConsoleSession(
  broker: Broker,
  token: string | undefined,
  options: { readonly isUse?: boolean } = {},
): Promise<ConsoleSession | undefined> {
  const opened = await openPageSession(broker, 'console', token, options)
  if (opened === undefined) return undefined
  return opened.authority === BY_KEY ? ofKey(broker, opened) : ofIssuer(broker, opened)
}

async function ofKey(broker: Broker, opened: OpenedPageSession): Promise<ConsoleSession | undefined> {
  const { projectId, subject } = opened
  const [key, project] = await Promise.all([
    broker.store.apiKeys.find(projectId, subject),
    broker.store.projects.find(projectId),
  ])
  if (key === undefined || project === undefined || key.revokedAt !== undefined) return undefined
  if (isExpired(key, broker.now())) return undefined
  const role = consoleRoleOf(key)
  if (role === undefined) return undefined
  return {
    opened,
    project,
    role,
    groups: [],
    projects: [project],
    actor: { kind: 'api_key', id: key.id },
    caller: key,
    display: key.name,
    isRecent: isRecentLogin(broker, opened),
  }
}

async function ofIssuer(broker: Broker, opened: OpenedPageSession): Promise<ConsoleSession | undefined> {
  if (opened.authority !== issuerAuthority(broker)) return undefined
  const grants = opened.may.map(readGrant)
  const projects = await projectsOf(broker, grants)
  const project = projects.find(({ id }) => id === opened.shownProjectId) ?? projects[0]
  const role = project && roleIn(grants, project)
  if (project === undefined || role === undefined) return undefined
  const groups = groupsIn(grants, project)
  return {
    opened,
    project,
    role,
    groups,
    projects,
    actor: { kind: 'operator', id: opened.subject },
    caller: { id: '', projectId: project.id, name: '', role, hash: '', createdAt: 0 },
    display: opened.display ?? opened.subject,
    isRecent: isRecentLogin(broker, opened),
  }
}

/**
 * Logs in with an API key. Throws `invalid_authorization` for a key that is not valid, `insufficient_role` for a caller's
 * key and for one of a single user.
 */
export async function logInWithKey(
  broker: Broker,
  presented: string,
  {
    replaces,
    purpose = 'POST /dashboard/login',
  }: { readonly replaces: string | undefined; readonly purpose?: string },
): Promise<{ readonly token: string; readonly seconds: number }> {
  const key = await findKey(broker, presented)
  const actor: AuditActor = { kind: 'api_key', id: key.id }
  return inContext({ actor, purpose }, async () => {
    if (consoleRoleOf(key) === undefined) throw await refused(broker, key)
    return beginPageSession(broker, {
      kind: 'console',
      projectId: key.projectId,
      subject: key.id,
      may: [],
      authority: BY_KEY,
      authTime: broker.now(),
      replaces,
      audit: broker.audit.of(key.projectId, { action: 'console.logged_in', subject: key.id }),
    })
  })
}

/** Whether the presented key is the one with which the session began, so that it confirms a recent login. */
export function isKeyOf({ caller, opened }: ConsoleSession, presented: string): boolean {
  return opened.authority === BY_KEY && caller.hash === sha256(presented)
}

async function findKey(broker: Broker, presented: string): Promise<ApiKey> {
  const key = await broker.store.apiKeys.findByHash(sha256(presented))
  if (key === undefined || isExpired(key, broker.now()))
    throw new BrokerError(
      'invalid_authorization',
      'This API key is not known here, has expired or was revoked.',
    )
  return key
}

async function refused(broker: Broker, key: ApiKey): Promise<BrokerError> {
  await broker.audit.record(key.projectId, { action: 'access.refused', reason: 'insufficient_role' })
  return new BrokerError(
    'insufficient_role',
    key.userId === undefined
      ? `This key has the role ${key.role}. The console takes keys of the roles admin and readonly: make one with \`gatepass keys create --role readonly\`.`
      : 'This key acts for one user only. The console shows all users of a project, so it takes only keys without a user.',
  )
}

function consoleRoleOf({ role, userId }: ApiKey): ConsoleRole | undefined {
  return role === 'caller' || role === 'approver' || userId !== undefined ? undefined : role
}

/** Logs in the operator whom the issuer has identified. `undefined`: the rules give them no role in any existing project. */
export async function logInFromIssuer(
  broker: Broker,
  {
    subject,
    display,
    userIds,
    grants,
    authTime,
    replaces,
    shownProjectId,
  }: {
    readonly subject: string
    readonly display: string | undefined
    readonly userIds: readonly string[]
    readonly grants: readonly RoleGrant[]
    readonly authTime: EpochSeconds | undefined
    readonly replaces: string | undefined
    readonly shownProjectId?: string | undefined
  },
): Promise<{ readonly token: string; readonly seconds: number } | undefined> {
  const projects = await projectsOf(broker, grants)
  const project =
    projects.find(({ id }) => id === shownProjectId) ??
    projects.find(({ name }) => name === DEFAULT_PROJECT) ??
    projects[0]
  if (project === undefined) return undefined
  const actor: AuditActor = { kind: 'operator', id: subject }
  return inContext({ actor, purpose: 'GET /dashboard/callback' }, () =>
    beginPageSession(broker, {
      kind: 'console',
      projectId: project.id,
      subject,
      may: grants.map(writeGrant),
      userIds,
      authority: issuerAuthority(broker),
      shownProjectId: project.id,
      display,
      authTime,
      replaces,
      audit: broker.audit.of(project.id, { action: 'console.logged_in', subject, detail: display }),
    }),
  )
}

/**
 * Lets the pages show another project. Throws `not_found` for one that the session may not see, `store_unavailable` when
 * another request has changed or ended the session at the same time.
 */
export async function chooseProject(broker: Broker, session: ConsoleSession, id: string): Promise<void> {
  if (!session.projects.some((project) => project.id === id))
    throw new BrokerError('not_found', 'There is no such project that you may see.')
  if (await changePageSession(broker, session.opened, { ...session.opened, shownProjectId: id })) return
  throw new BrokerError(
    'store_unavailable',
    'The project was not chosen: another request has changed your session at the same time. Choose it once more.',
    { retryAfter: 1 },
  )
}

/** The `authority` of sessions by login at the issuer: they end when the issuer, the client or the rules change. */
export function issuerAuthority({ settings }: Pick<Broker, 'settings'>): string {
  const { issuer } = settings.dashboard
  if (issuer === undefined) return ''
  return sha256(JSON.stringify(['dashboard', issuer.issuer, issuer.client.clientId, issuer.rules]))
}

function writeGrant({ role, group, project }: RoleGrant): string {
  return `${role}${group === undefined ? '' : `:${group}`} on ${project}`
}

function readGrant(text: string): RoleGrant {
  const [role = '', ...rest] = text.split(' on ')
  const project = rest.join(' on ')
  if (role.startsWith('approver:'))
    return { role: 'approver', group: role.slice('approver:'.length), project }
  return { role: role === 'admin' ? 'admin' : 'readonly', project }
}

async function projectsOf(broker: Broker, grants: readonly RoleGrant[]): Promise<readonly Project[]> {
  if (grants.length === 0) return []
  const all = await broker.store.projects.list()
  return all.filter((project) => roleIn(grants, project) !== undefined)
}

const BY_POWER = ['admin', 'readonly', 'approver'] as const satisfies ConsoleRole[]

/** The role that shows most. */
function roleIn(grants: readonly RoleGrant[], { name }: Project): ConsoleRole | undefined {
  const roles = grants.filter((grant) => isOn(grant, name)).map(({ role }) => role)
  return BY_POWER.find((role) => roles.includes(role))
}

function groupsIn(grants: readonly RoleGrant[], { name }: Project): readonly string[] {
  const groups = grants.filter((grant) => isOn(grant, name)).map(({ group }) => group)
  return [...new Set(groups.filter((group) => group !== undefined))]
}

/** Whether a rule or a role is about the project of that name. */
export function isOn({ project }: { readonly project: string }, name: string): boolean {
  return project === '*' || project === name
}
