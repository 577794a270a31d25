import type { Broker } from '../broker.ts'
import {
  type ApiKey,
  isExpired,
  issueApiKey,
  type KeyPrefix,
  type NewApiKey,
  rotatedApiKey,
} from '../domain/api-key.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { DEFAULT_PROJECT, type Project } from '../domain/project.ts'

/** A new API key with its stored record. */
export interface IssuedKey {
  /** Shown once, since only its hash is stored. */
  readonly key: string
  readonly record: ApiKey
}

/** Creates and stores an API key. */
export async function createKey(
  broker: Broker,
  order: Omit<NewApiKey, 'createdAt'>,
  prefix?: KeyPrefix,
): Promise<IssuedKey> {
  const issued = issueApiKey({ ...order, createdAt: broker.now() }, prefix)
  const { projectId, userId } = order
  const entries = broker.audit.of(projectId, {
    action: 'key.created',
    subject: issued.record.id,
    ...(userId !== undefined && { userId }),
  })
  await broker.store.apiKeys.add(issued.record, entries)
  return issued
}

/**
 * Creates the successor of a key. The old key stays valid for at most `graceSeconds`. Throws `not_found` for a key
 * that is not valid, `already_exists` for a key that has a successor.
 */
export async function rotateKey(
  broker: Broker,
  project: Pick<Project, 'id' | 'name'>,
  id: string,
  { graceSeconds, prefix }: { readonly graceSeconds: number; readonly prefix?: KeyPrefix },
): Promise<IssuedKey & { readonly oldEndsAt: EpochSeconds }> {
  const now = broker.now()
  const old = await broker.store.apiKeys.find(project.id, id)
  const notLive = () =>
    new BrokerError('not_found', `There is no live API key "${id}" in the project "${project.name}".`)
  if (old === undefined || old.revokedAt !== undefined || isExpired(old, now)) throw notLive()
  const issued = rotatedApiKey(old, now, prefix)
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
 * in a new project or one without keys. Throws `insufficient_role` for every other name, whether it exists or not.
 */
export async function projectForKey(broker: Broker, by: Project, name: string): Promise<Project> {
  if (name === by.name) return by
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
