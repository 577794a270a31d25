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
import { heldConnections } from '../../flows/get-access-token.ts'
import { factsOf } from '../../providers/known-facts.ts'
import type { ProviderEntry } from '../../providers/provider.ts'
import { waitsFor } from './acceptance.ts'
import { findWorkerByUid } from './known-tools.ts'
import type { RequiredProvider, RequiredWorker, RequirementStatus } from './tool-definition.ts'

/** Whether a tool's requirements are met: what is configured, and with `userId` what that user has granted. */
export async function requirementStatus(
  broker: Broker,
  tool: Tool,
  userId?: string,
): Promise<RequirementStatus> {
  const secrets = await Promise.all(
    tool.requirements.secrets.map(async (key) => {
      const met = (await broker.store.secrets.find(tool.projectId, key)) !== undefined
      return { key, met, ...(!met && { status_reason: `Set it by POST /v1/admin/secrets/${key}.` }) }
    }),
  )
  const needs = await chosenRequirements(broker, tool, userId)
  const authorizations = await Promise.all(
    needs.map((need) => authorizationStatus(broker, tool.projectId, need, userId)),
  )
  const authorization = authorizations.find((one) => !one.met) ?? authorizations[0]
  const waits = await waitsFor(broker, tool)
  if (waits !== undefined) return waiting(waits, authorizations, secrets)
  const worker = await workerRequired(broker, tool)
  return {
    met: [...secrets, ...authorizations, ...(worker ? [worker] : [])].every((one) => one.met),
    ...(authorization !== undefined && { authorization: authorization.status }),
    ...(authorizations.length > 1 && { authorizations: authorizations.map((one) => one.status) }),
    secrets,
    ...(worker && { worker }),
  }
}

/** Whether what the tool is bound to can run it, as far as is known without asking it now. */
export async function workerRequired(
  broker: Broker,
  { binding }: Pick<Tool, 'binding'>,
): Promise<RequiredWorker | undefined> {
  const worker = binding && (await findWorkerByUid(broker, binding.workerUid))
  if (worker === undefined) return undefined
  const status = workerStatus(worker)
  return { id: worker.id, met: status === 'active', status, ...reasonOf(worker, status) }
}

function reasonOf({ id, syncError }: Worker, status: WorkerStatus): { status_reason?: string } {
  if (status === 'inactive') return { status_reason: `The worker "${id}" is switched off.` }
  if (status === 'active') return {}
  return { status_reason: `The worker "${id}" cannot be reached: ${syncError ?? 'it does not answer'}` }
}

/** Of a tool that names what nobody has accepted: none of it is met. */
function waiting(
  why: string,
  authorizations: readonly { readonly status: RequiredProvider }[],
  secrets: RequirementStatus['secrets'],
): RequirementStatus {
  const all = authorizations.map(({ status: { token_status: _, ...status } }) => ({
    ...status,
    status: 'inactive' as const,
    status_reason: why,
  }))
  const [first] = all
  return {
    met: false,
    ...(first !== undefined && { authorization: first }),
    ...(all.length > 1 && { authorizations: all }),
    secrets: secrets.map((secret) => ({ ...secret, met: false, status_reason: why })),
  }
}

/** What it must have, and the alternative that costs the user least. */
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
    if (statuses.every(({ status }) => status.status === 'active')) configured ??= one
  }
  return [...authorization, ...(configured ?? first)]
}

/** The entry that a requirement means. Throws `provider_not_found`, `provider_inactive`. */
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
  // what opens a server is for that server: a tool that names it would be handed its key
  if (entry.source === 'server' && need.use !== 'server')
    throw new BrokerError(
      'provider_not_found',
      `The provider "${entry.id}" opens a remote MCP server, and its tokens are given to no tool. Name another provider.`,
    )
  return active(entry)
}

/** Whether one is met, and how it stands. Nothing is refreshed to find out. */
export async function authorizationStatus(
  broker: Broker,
  projectId: string,
  need: AuthorizationRequirement,
  userId: string | undefined,
): Promise<{ readonly met: boolean; readonly status: NonNullable<RequirementStatus['authorization']> }> {
  const scopes = [...need.scopes]
  try {
    const entry = await entryOf(broker, projectId, need)
    const missing = missingSettings(broker, entry)
    const tokenStatus = userId === undefined ? undefined : await tokenStatusOf(broker, entry, userId, scopes)
    return {
      met: missing.length === 0 && tokenStatus !== 'not_started',
      status: {
        id: entry.id,
        ...(entry.wellKnownId !== undefined && { provider_id: entry.wellKnownId }),
        provider_type: 'oauth2',
        oauth2: { scopes },
        status: missing.length === 0 ? 'active' : 'inactive',
        ...(missing.length > 0 && { status_reason: `${missing.join(', ')} not set` }),
        ...(tokenStatus !== undefined && { token_status: tokenStatus }),
      },
    }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return {
      met: false,
      status: {
        ...(need.id !== undefined && { id: need.id }),
        ...(need.providerId !== undefined && { provider_id: need.providerId }),
        provider_type: 'oauth2',
        oauth2: { scopes },
        status: 'inactive',
        status_reason: error.message,
        ...(userId !== undefined && { token_status: 'not_started' }),
      },
    }
  }
}

/** By what is stored; nothing is refreshed to find out. */
async function tokenStatusOf(
  broker: Broker,
  entry: ProviderEntry,
  userId: string,
  scopes: readonly string[],
): Promise<'completed' | 'not_started'> {
  const owner = { projectId: entry.projectId, providerUid: entry.uid, userId }
  const held = await heldConnections(broker, owner)
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
