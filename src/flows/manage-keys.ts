import type { Broker } from '../broker.ts'
import {
  type ApiKey,
  isExpired,
  issueApiKey,
  type KeyPrefix,
  type Role,
  rotatedApiKey,
} from '../domain/api-key.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import { BrokerError, invalidMember } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { DEFAULT_PROJECT, PROJECT_NAME, PROJECT_NAME_RULE, type Project } from '../domain/project.ts'
import { currentContext } from '../services/request-context.ts'

/** A new API key with its stored record. */
export interface IssuedKey {
  /** Shown once, since only its hash is stored. */
  readonly key: string
  readonly record: ApiKey
}

const DAY_SECONDS = 24 * 3600
/** In seconds. */
export const LONGEST_LIFETIME = 100 * 365 * 24 * 3600

/** The key to create. */
export interface KeyOrder {
  readonly role: Role
  readonly name?: string | undefined
  /** The name of the key's project; by default that of `by`. */
  readonly project?: string | undefined
  /** The only user for whom the key acts. */
  readonly userId?: string | undefined
  /** When the key expires: at a time or after a number of seconds; with neither it never expires. */
  readonly expiresAt?: EpochSeconds | undefined
  readonly expiresIn?: number | undefined
  readonly rateLimit?: number | undefined
  /** Of an approver: the groups for which the key decides. */
  readonly groups?: readonly string[] | undefined
  readonly prefix?: KeyPrefix | undefined
}

/**
 * Creates and stores an API key, and its project if it does not exist. Throws `invalid_request` for members that
 * contradict each other, and `insufficient_role` for a project in which `by` may create no key.
 */
export async function createKey(
  broker: Broker,
  by: Project,
  { prefix, ...order }: KeyOrder,
): Promise<IssuedKey & { readonly project: Project }> {
  const { role, name = '', userId, rateLimit, groups } = order
  const expiresAt = expiryOf(order, broker.now())
  if (userId !== undefined && role === 'admin')
    throw invalidMember(
      'user_id',
      'conflict',
      'A key that acts for one user cannot administer: give it the role caller or readonly.',
    )
  if (groups !== undefined && role !== 'approver')
    throw invalidMember('groups', 'conflict', 'Only keys of the role approver have groups.')
  const createdBy = makerNow()
  // the project may be created, so the request is checked first
  const project = order.project === undefined ? by : await projectForKey(broker, by, order.project)
  const properties = {
    projectId: project.id,
    name,
    role,
    createdAt: broker.now(),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(userId !== undefined && { userId }),
    ...(groups !== undefined && { groups: [...new Set(groups)].sort() }),
    ...(createdBy !== undefined && { createdBy }),
  }
  const issued = issueApiKey(properties, prefix)
  const entries = broker.audit.of(project.id, { action: 'key.created', subject: issued.record.id, userId })
  await broker.store.apiKeys.add(issued.record, entries)
  return { ...issued, project }
}

/** The operator whose request this is, or who created the key that makes it, so that a chain of keys keeps its maker. */
function makerNow(): string | undefined {
  const { actor, apiKey } = currentContext()
  return actor.kind === 'operator' ? actor.id : apiKey?.createdBy
}

/** When the key expires; `undefined`: never. */
function expiryOf(
  { expiresAt, expiresIn }: Pick<KeyOrder, 'expiresAt' | 'expiresIn'>,
  now: EpochSeconds,
): EpochSeconds | undefined {
  if (expiresAt !== undefined && expiresIn !== undefined)
    throw invalidMember('expires_in', 'conflict', 'Give expires_at or expires_in, not both.')
  if (expiresIn !== undefined) return now + expiresIn
  if (expiresAt !== undefined && (expiresAt <= now || expiresAt > now + LONGEST_LIFETIME))
    throw invalidMember(
      'expires_at',
      'invalid',
      'expires_at must be in the future, and within a hundred years.',
    )
  return expiresAt
}

/** A key of the project. Throws `not_found`. */
export async function getKey(
  broker: Broker,
  project: Pick<Project, 'id' | 'name'>,
  id: string,
): Promise<ApiKey> {
  const key = await broker.store.apiKeys.find(project.id, id)
  if (key !== undefined) return key
  throw new BrokerError(
    'not_found',
    `There is no API key "${id.slice(0, 100)}" in the project "${project.name}".`,
  )
}

/**
 * Creates the successor of a key. The old key stays valid for at most `graceSeconds`. Throws `not_found` for a key
 * that is not valid, `already_exists` for a key that has a successor.
 */
export async function rotateKey(
  broker: Broker,
  project: Pick<Project, 'id' | 'name'>,
  id: string,
  {
    graceSeconds = DAY_SECONDS,
    prefix,
  }: { readonly graceSeconds?: number | undefined; readonly prefix?: KeyPrefix | undefined } = {},
): Promise<IssuedKey & { readonly oldEndsAt: EpochSeconds }> {
  const now = broker.now()
  const old = await broker.store.apiKeys.find(project.id, id)
  const notLive = () =>
    new BrokerError('not_found', `There is no live API key "${id}" in the project "${project.name}".`)
  if (old === undefined || old.revokedAt !== undefined || isExpired(old, now)) throw notLive()
  const issued = rotatedApiKey(old, now, prefix, makerNow())
  const oldEndsAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + graceSeconds)
  const entries = broker.audit.of(project.id, { action: 'key.rotated', subject: id })
  if (!(await broker.store.apiKeys.rotate(old, oldEndsAt, issued.record, entries))) {
    const current = await broker.store.apiKeys.find(project.id, id)
    if (current?.replacedBy === undefined) throw notLive() // revoked since it was read
    throw new BrokerError(
      'already_exists',
      `"${id}" was rotated already: ${current.replacedBy} takes its place. Rotate that one.`,
    )
  }
  return { ...issued, oldEndsAt }
}

/** Revokes the key. Throws `not_found` for a key that does not exist or was revoked before. */
export async function revokeKey(
  broker: Broker,
  project: Pick<Project, 'id' | 'name'>,
  id: string,
): Promise<void> {
  const entries = broker.audit.of(project.id, { action: 'key.revoked', subject: id })
  if (!(await broker.store.apiKeys.revoke(project.id, id, broker.now(), entries)))
    throw new BrokerError(
      'not_found',
      `There is no unrevoked API key "${id}" in the project "${project.name}".`,
    )
}

/** The key's project. */
export async function projectOf(broker: Broker, { projectId }: Pick<ApiKey, 'projectId'>): Promise<Project> {
  const project = await broker.store.projects.find(projectId)
  if (project === undefined) throw new Error(`the project ${projectId} of a key that was accepted is gone`)
  return project
}

/**
 * Whether an administrator of this project administers the installation. Such an administrator sees the names of all
 * projects and creates projects and their first key, but cannot act in a project that has keys of its own.
 */
export function administersInstallation(project: Pick<Project, 'name'>): boolean {
  return project.name === DEFAULT_PROJECT
}

/** Throws `insufficient_role` unless `by` administers the installation, `already_exists` when the name is taken. */
export async function createProject(broker: Broker, by: Project, name: string): Promise<Project> {
  if (!administersInstallation(by))
    throw new BrokerError(
      'insufficient_role',
      `Projects are made by an administrator of the project "${DEFAULT_PROJECT}"; this key is of "${by.name}".`,
    )
  const project = { id: newId('proj'), name, createdAt: broker.now() }
  const entries = broker.audit.of(by.id, { action: 'project.created', subject: project.id })
  if (!(await broker.store.projects.add(project, entries)))
    throw new BrokerError('already_exists', `There is a project "${name}" already.`)
  return project
}

/**
 * The project in which an administrator of `by` may create a key: their own; an administrator of the installation also
 * in a new project or one without keys. Throws `invalid_request` for an invalid name and `insufficient_role` for every
 * other name, whether it exists or not.
 */
async function projectForKey(broker: Broker, by: Project, name: string): Promise<Project> {
  if (name === by.name) return by // the name may be older than the rule
  if (!PROJECT_NAME.test(name))
    throw invalidMember(
      'project',
      'invalid',
      `"${name}" is not a valid name of a project: ${PROJECT_NAME_RULE}, at most 100.`,
    )
  const refused = new BrokerError(
    'insufficient_role',
    `An administrator's key has power in its own project only, "${by.name}". Use one of the project "${name}", or \`gatepass keys create --project\` beside the database.`,
  )
  if (!administersInstallation(by)) throw refused
  const found = await broker.store.projects.findByName(name)
  if (found === undefined) return createProject(broker, by, name)
  if ((await broker.store.apiKeys.page(found.id, { offset: 0, limit: 1 })).total > 0) throw refused
  return found
}
