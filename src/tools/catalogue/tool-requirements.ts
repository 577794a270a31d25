import type { Broker } from '../../broker.ts'
import { chooseConnection } from '../../domain/connection.ts'
import { BrokerError } from '../../domain/errors.ts'
import { missingScopes } from '../../domain/scopes.ts'
import type { AuthorizationRequirement, Tool } from '../../domain/tool.ts'
import { type Worker, type WorkerStatus, workerStatus } from '../../domain/worker.ts'
import {
  active,
  findProvider,
  findProviderByUid,
  missingSettings,
  providerIdentity,
} from '../../flows/find-provider.ts'
import { cachedConnections } from '../../flows/get-access-token.ts'
import { factsOf } from '../../providers/known-facts.ts'
import type { ProviderEntry } from '../../providers/provider.ts'
import type { AuthorizationStatus } from '../tool-answer.ts'
import { findUnaccepted } from './acceptance.ts'
import { findWorkerByUid } from './known-tools.ts'

// Whether what a tool needs is there: its providers, secrets and worker. Nothing is refreshed or called to find out.

/** One provider that a tool needs. */
export interface RequiredProvider {
  readonly met: boolean
  /** The entry's id; of a provider that has no entry, the id that the tool names. */
  readonly id?: string
  /** Of a well-known provider, such as `github`. */
  readonly wellKnownId?: string
  readonly scopes: readonly string[]
  /** Whether the provider is configured and enabled. */
  readonly status: 'active' | 'inactive'
  readonly statusReason?: string
  /** Only where a user was named. */
  readonly tokenStatus?: AuthorizationStatus
}

export interface RequiredSecret {
  readonly key: string
  readonly met: boolean
  readonly statusReason?: string
}

export interface RequiredWorker {
  readonly id: string
  readonly met: boolean
  readonly status: WorkerStatus
  readonly statusReason?: string
}

export interface RequirementStatus {
  readonly met: boolean
  readonly authorizations: readonly RequiredProvider[]
  readonly secrets: readonly RequiredSecret[]
  /** Absent where no worker runs the tool. */
  readonly worker?: RequiredWorker
}

/** Whether a tool's requirements are met; with `userId`, by what that user has granted. */
export async function requirementStatus(
  broker: Broker,
  tool: Tool,
  userId?: string,
): Promise<RequirementStatus> {
  const secrets = await Promise.all(
    tool.requirements.secrets.map((key) => requiredSecret(broker, tool.projectId, key)),
  )
  const needs = await chosenRequirements(broker, tool, userId)
  const authorizations = await Promise.all(
    needs.map((need) => authorizationStatus(broker, tool.projectId, need, userId)),
  )
  const unaccepted = await findUnaccepted(broker, tool)
  if (unaccepted !== undefined)
    return {
      met: false,
      authorizations: authorizations.map((one) => notAccepted(one, unaccepted)),
      secrets: secrets.map((secret) => ({ ...secret, met: false, statusReason: unaccepted })),
    }
  const worker = await workerRequired(broker, tool)
  return {
    met: [...secrets, ...authorizations, ...(worker ? [worker] : [])].every((one) => one.met),
    authorizations,
    secrets,
    ...(worker && { worker }),
  }
}

export async function requiredSecret(
  broker: Broker,
  projectId: string,
  key: string,
): Promise<RequiredSecret> {
  const met = (await broker.store.secrets.find(projectId, key)) !== undefined
  return { key, met, ...(!met && { statusReason: `Set it by POST /v1/admin/secrets/${key}.` }) }
}

/** Whether the tool's worker can run it, as far as is known without a request to the worker. */
export async function workerRequired(
  broker: Broker,
  { binding }: Pick<Tool, 'binding'>,
): Promise<RequiredWorker | undefined> {
  const worker = binding && (await findWorkerByUid(broker, binding.workerUid))
  if (worker === undefined) return undefined
  const status = workerStatus(worker)
  return { id: worker.id, met: status === 'active', status, ...reasonOf(worker, status) }
}

function reasonOf({ id, syncError }: Worker, status: WorkerStatus): { statusReason?: string } {
  if (status === 'inactive') return { statusReason: `The worker "${id}" is switched off.` }
  if (status === 'active') return {}
  return { statusReason: `The worker "${id}" cannot be reached: ${syncError ?? 'it does not answer'}` }
}

/** A requirement of a tool that an administrator has not accepted: it is not met, and no user is asked for it. */
export function notAccepted(
  { tokenStatus: _, ...required }: RequiredProvider,
  statusReason: string,
): RequiredProvider {
  return { ...required, met: false, status: 'inactive', statusReason }
}

/**
 * The tool's requirements, with one of its alternatives: the first that the user has granted, else the first whose
 * providers are configured.
 */
export async function chosenRequirements(
  broker: Broker,
  { projectId, requirements: { authorization, alternatives = [] } }: Tool,
  userId: string | undefined,
): Promise<readonly AuthorizationRequirement[]> {
  const [first] = alternatives
  if (first === undefined) return authorization
  let configured: readonly AuthorizationRequirement[] | undefined
  for (const one of alternatives) {
    const statuses = await Promise.all(
      one.map((need) => authorizationStatus(broker, projectId, need, userId)),
    )
    const isGranted = userId === undefined ? one.length === 0 : statuses.every(({ met }) => met)
    if (isGranted) return [...authorization, ...one]
    if (statuses.every(({ status }) => status === 'active')) configured ??= one
  }
  return [...authorization, ...(configured ?? first)]
}

/** The entry that a requirement names. Throws `provider_not_found`, `provider_inactive`. */
export async function entryOf(
  broker: Broker,
  projectId: string,
  need: AuthorizationRequirement,
): Promise<ProviderEntry> {
  const entry =
    need.providerUid === undefined
      ? await findProvider(broker, projectId, need)
      : await findProviderByUid(broker, projectId, need.providerUid)
  if (entry === undefined)
    throw new BrokerError(
      'provider_not_found',
      'The provider this tool needs was deleted. Import the tool again.',
    )
  // the token that opens an MCP server is for that server alone, so a tool that names its provider does not get it
  if (entry.source === 'server' && need.use !== 'server')
    throw new BrokerError(
      'provider_not_found',
      `The provider "${entry.id}" opens a remote MCP server, and its tokens are given to no tool. Name another provider.`,
    )
  return active(entry)
}

/** Whether one requirement is met, judged by stored connections: nothing is refreshed. */
export async function authorizationStatus(
  broker: Broker,
  projectId: string,
  need: AuthorizationRequirement,
  userId: string | undefined,
): Promise<RequiredProvider> {
  const scopes = [...need.scopes]
  try {
    const entry = await entryOf(broker, projectId, need)
    const missing = missingSettings(broker, entry)
    const tokenStatus = userId === undefined ? undefined : await tokenStatusOf(broker, entry, userId, scopes)
    return {
      met: missing.length === 0 && tokenStatus !== 'not_started',
      id: entry.id,
      ...(entry.wellKnownId !== undefined && { wellKnownId: entry.wellKnownId }),
      scopes,
      status: missing.length === 0 ? 'active' : 'inactive',
      ...(missing.length > 0 && { statusReason: `${missing.join(', ')} not set` }),
      ...(tokenStatus !== undefined && { tokenStatus }),
    }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return {
      met: false,
      ...(need.id !== undefined && { id: need.id }),
      ...(need.providerId !== undefined && { wellKnownId: need.providerId }),
      scopes,
      status: 'inactive',
      statusReason: error.message,
      ...(userId !== undefined && { tokenStatus: 'not_started' }),
    }
  }
}

async function tokenStatusOf(
  broker: Broker,
  entry: ProviderEntry,
  userId: string,
  scopes: readonly string[],
): Promise<'completed' | 'not_started'> {
  const owner = { projectId: entry.projectId, providerUid: entry.uid, userId }
  const held = await cachedConnections(broker, owner)
  const connection = chooseConnection(held.map((one) => one.connection))
  const usable =
    connection?.status === 'active' &&
    connection.providerIdentity === providerIdentity(broker, entry) &&
    missingScopes(scopes, connection.scopes, factsOf(entry.provider)).length === 0 &&
    (connection.refresh !== undefined ||
      connection.expiresAt === undefined ||
      broker.now() < connection.expiresAt)
  return usable ? 'completed' : 'not_started'
}
