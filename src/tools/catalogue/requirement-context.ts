import type { Broker } from '../../broker.ts'
import { type Connection, chooseConnection } from '../../domain/connection.ts'
import { BrokerError } from '../../domain/errors.ts'
import { NO_USER, type SharedConnection } from '../../domain/shared-connection.ts'
import type { AuthorizationRequirement, Tool } from '../../domain/tool.ts'
import type { Worker, WorkerStatus } from '../../domain/worker.ts'
import { cachedConnections } from '../../flows/cached-connections.ts'
import { getProviderIn, providersOf } from '../../flows/get-provider.ts'
import type { ProviderBook } from '../../flows/provider-book.ts'
import { sharedConnections } from '../../flows/shared-token.ts'
import type { Grant } from '../../store/connections.ts'
import type { AuthorizationStatus } from '../tool-answer.ts'
import { findWorkerByUid } from './known-tools.ts'

// Whether the requirements of tools are met. Providers, secrets, workers and grants are read once for all tools of a list,
// which may be ten thousand.

/** One provider that a tool needs. */
export interface RequiredProvider {
  readonly met: boolean
  /** The entry's id, or the id that the tool names if there is no entry. */
  readonly id?: string | undefined
  /** The id of a well-known provider, such as `github`. */
  readonly wellKnownId?: string | undefined
  readonly scopes: readonly string[]
  /** Whether the provider is configured and enabled. */
  readonly status: 'active' | 'inactive'
  readonly statusReason?: string | undefined
  /** Only if the caller named a user. */
  readonly tokenStatus?: AuthorizationStatus | undefined
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
  readonly worker?: RequiredWorker | undefined
}

/** The data that decides whether requirements of a project's tools are met. */
export interface RequirementContext {
  readonly broker: Broker
  readonly userId: string | undefined
  readonly providers: ProviderBook
  /** The keys of the secrets that are set, in lower case. */
  readonly secrets: ReadonlySet<string>
  /** The workers by their uids. */
  readonly workers: ReadonlyMap<string, Worker>
  /** The user's grants by the provider entry's uid. */
  readonly grants: ReadonlyMap<string, Grant>
  /** The connections that the project shares. */
  readonly shared: readonly SharedConnection[]
  /** Their keys and tokens, by the provider entry's uid. */
  readonly sharedRows: ReadonlyMap<string, readonly Connection[]>
}

/** For more providers, all grants of the user are read by one statement instead of one by one from the cache. */
const MAX_LOOKED_UP = 8

/** Reads the context for these tools of one project. */
export async function loadRequirementContext(
  broker: Broker,
  projectId: string,
  tools: readonly Pick<Tool, 'requirements' | 'source' | 'binding'>[],
  userId: string | undefined,
): Promise<RequirementContext> {
  const providers = await providersOf(broker, projectId)
  const workers = new Map<string, Worker>()
  const uids = new Set(tools.flatMap(({ binding, source }) => [...workerUidsOf(binding, source)]))
  for (const uid of uids) {
    const worker = await findWorkerByUid(broker, uid)
    if (worker !== undefined) workers.set(uid, worker)
  }
  const shared = userId === undefined ? [] : await sharedConnections(broker, projectId)
  const needed = neededProviders(tools, providers)
  const sharedRows = new Map<string, readonly Connection[]>()
  for (const providerUid of new Set(shared.map((one) => one.providerUid))) {
    if (!needed.has(providerUid)) continue
    const held = await cachedConnections(broker, { projectId, providerUid, userId: NO_USER })
    sharedRows.set(
      providerUid,
      held.map(({ connection }) => connection),
    )
  }
  const needsSecrets = tools.some(({ requirements }) => requirements.secrets.length > 0)
  return {
    broker,
    userId,
    providers,
    workers,
    secrets: needsSecrets ? await secretKeys(broker, projectId) : new Set(),
    shared,
    sharedRows,
    grants: userId === undefined ? new Map() : await grantsFor(broker, { projectId, userId }, needed),
  }
}

function* workerUidsOf(binding: Tool['binding'], source: Tool['source']) {
  if (binding !== undefined) yield binding.workerUid
  if (source.kind === 'worker') yield source.workerUid
}

async function secretKeys(broker: Broker, projectId: string): Promise<ReadonlySet<string>> {
  return broker.cache.secretKeys.get(projectId, () => broker.store.secrets.keys(projectId))
}

/** The uids of the entries whose connections the tools take; of exchanged tokens, those of the subjects. */
function neededProviders(
  tools: readonly Pick<Tool, 'requirements'>[],
  providers: ProviderBook,
): ReadonlySet<string> {
  const needed = new Set<string>()
  for (const { requirements } of tools)
    for (const need of [...requirements.authorization, ...(requirements.alternatives ?? []).flat()]) {
      const uid = need.providerUid ?? uidNamed(providers, need)
      if (uid !== undefined) needed.add(subjectOf(providers, uid) ?? uid)
    }
  return needed
}

async function grantsFor(
  broker: Broker,
  owner: { readonly projectId: string; readonly userId: string },
  needed: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Grant>> {
  const grants = new Map<string, Grant>()
  if (needed.size > MAX_LOOKED_UP) {
    for (const grant of await broker.store.connections.grantsOfUser(owner.projectId, owner.userId))
      if (!grants.has(grant.providerUid)) grants.set(grant.providerUid, grant)
    return grants
  }
  for (const providerUid of needed) {
    const held = await cachedConnections(broker, { ...owner, providerUid })
    const chosen = chooseConnection(held.map(({ connection }) => connection))
    if (chosen !== undefined) grants.set(providerUid, { ...chosen, canRefresh: chosen.refresh !== undefined })
  }
  return grants
}

/** The uid of the entry whose token is exchanged for one of this entry; `undefined` if there is none. */
function subjectOf(providers: ProviderBook, uid: string): string | undefined {
  const subject = providers.byUid(uid)?.provider.grant?.subject
  return subject && providers.byId(subject.connection)?.uid
}

function uidNamed(providers: ProviderBook, need: AuthorizationRequirement): string | undefined {
  try {
    return getProviderIn(providers, need).uid
  } catch (error) {
    if (error instanceof BrokerError) return undefined // `statusOfNeed` reports the error
    throw error
  }
}
