import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { newId, sha256 } from '../../domain/ids.ts'
import { unionOfScopes } from '../../domain/scopes.ts'
import { normalizeTags } from '../../domain/tags.ts'
import { type AuthorizationRequirement, type Tool, type ToolBinding, toolId } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import { missingSettings, unconfirmed } from '../../flows/find-provider.ts'
import { withDiscoveredMetadata } from '../../flows/issuer-metadata.ts'
import type { ProviderEntry } from '../../providers/provider.ts'
import { toolFaults } from '../catalogue/validate-tool.ts'
import { isRecord } from '../read-json.ts'
import { matchProvider } from './match-provider.ts'
import { readToolMetadata, type ToolMetadata, type Warning } from './read-metadata.ts'
import type { OAuthEntry } from './read-oauth-entry.ts'

/** The result for one document of an import. */
export interface ImportedTool {
  readonly name: string
  readonly toolId?: string
  readonly result: 'created' | 'updated' | 'unchanged' | 'refused'
  /** Why the document was refused, and what to do. */
  readonly reason?: string
  readonly providers: readonly ImportedProvider[]
  readonly warnings: readonly Warning[]
}

export interface ImportedProvider {
  readonly id: string
  readonly name: string
  /** To be registered at the provider. Absent in a dry run for an entry that would be added. */
  readonly redirectUri?: string
  /** Settings that are still missing: `client_id`, `client_secret`. */
  readonly missing: readonly string[]
}

export interface ImportOptions {
  readonly worker?: Worker
  /** Reports what an import would do, and writes nothing. */
  readonly dryRun?: boolean
}

/** What a dry run would have written so far; later documents are read against it too. */
interface DryRunState {
  readonly tools: Map<string, Tool>
  readonly entries: Map<string, ProviderEntry>
}

/**
 * Imports documents one after another. Each is imported completely or not at all, and importing it again changes
 * nothing.
 */
export async function importTools(
  broker: Broker,
  projectId: string,
  documents: readonly unknown[],
  { worker, dryRun = false }: ImportOptions = {},
): Promise<ImportedTool[]> {
  const dryRunState: DryRunState | undefined = dryRun ? { tools: new Map(), entries: new Map() } : undefined
  const imported: ImportedTool[] = []
  for (const document of documents)
    imported.push(
      await importTool(broker, projectId, document, worker, dryRunState).catch((error: unknown) => {
        // another import has just added the same tool or provider, so the second attempt updates it
        if (!(error instanceof BrokerError && error.code === 'already_exists')) throw error
        return importTool(broker, projectId, document, worker, dryRunState)
      }),
    )
  return imported
}

async function importTool(
  broker: Broker,
  projectId: string,
  document: unknown,
  worker: Worker | undefined,
  dryRunState: DryRunState | undefined,
): Promise<ImportedTool> {
  const reading = readToolMetadata(document, { allowsHttp: (url) => broker.outgoing.allows(url) })
  if (reading.outcome === 'refused') {
    const { name, reason, warnings } = reading
    return { name, result: 'refused', reason, providers: [], warnings }
  }
  const metadata = await withDiscovered(broker, reading.tool)
  if (metadata instanceof BrokerError) {
    const { title } = reading.tool
    return {
      name: title,
      result: 'refused',
      reason: metadata.message,
      providers: [],
      warnings: reading.warnings,
    }
  }
  const warnings = [...reading.warnings]
  const tags = keywordsOf(metadata)
  const faults = toolFaults({ ...metadata, tags })
  if (faults.length > 0)
    return { name: metadata.title, result: 'refused', reason: faults.join(' '), providers: [], warnings }
  const id = toolId(metadata).toLowerCase()
  const known =
    dryRunState?.tools.get(id) ??
    (await broker.store.tools.named(projectId, id)).find((tool) => toolId(tool).toLowerCase() === id)
  if (known !== undefined && known.source.kind !== 'metadata')
    return {
      name: metadata.title,
      result: 'refused',
      reason: `A worker already brings the tool ${toolId(known)}. Give this one another name, tool_set or version.`,
      providers: [],
      warnings,
    }

  // refuse two tools under one id; a title that differs only in case is the same tool
  if (known !== undefined && known.title.toLowerCase() !== metadata.title.toLowerCase())
    return {
      name: metadata.title,
      result: 'refused',
      reason: `"${metadata.title}" and "${known.title}" would have the same id ${toolId(known)}. Give this one another name, tool_set or version, or delete the other first (gatepass tools delete ${toolId(known)}).`,
      providers: [],
      warnings,
    }
  const uid = known?.uid ?? newId('tool')
  const matched = await matchProviders(broker, metadata, { uid, projectId }, { warnings, dryRunState })
  const binding = worker ? await bindingFor(broker, metadata, worker, warnings) : known?.binding
  const now = broker.now()
  const tool: Tool = {
    uid,
    projectId,
    namespace: metadata.namespace,
    name: metadata.name,
    ...(metadata.version !== undefined && { version: metadata.version }),
    title: metadata.title,
    description: metadata.description,
    inputSchema: metadata.inputSchema,
    tags,
    ...(metadata.outputSchema !== undefined && { outputSchema: metadata.outputSchema }),
    requirements: { authorization: matched.requirements, secrets: metadata.secrets, metadata: [] },
    source: { kind: 'metadata', document: metadata.document },
    ...(binding !== undefined && { binding }),
    digest: digestOf(broker, metadata),
    createdAt: known?.createdAt ?? now,
    updatedAt: now,
  }
  const same =
    known !== undefined &&
    known.digest === tool.digest &&
    matched.changed.length === 0 &&
    JSON.stringify([known.requirements, known.binding]) === JSON.stringify([tool.requirements, tool.binding])
  if (dryRunState !== undefined) {
    dryRunState.tools.set(id, tool)
    for (const entry of matched.changed) dryRunState.entries.set(entry.uid, entry)
  } else if (!same) {
    const audit = broker.audit.of(projectId, { action: 'tool.imported', tool: toolId(tool) })
    await broker.store.tools.put(tool, matched.changed, audit)
  }
  return {
    name: metadata.title,
    toolId: toolId(tool),
    result: known === undefined ? 'created' : same ? 'unchanged' : 'updated',
    providers: matched.entries.map((entry) => ({
      id: entry.id,
      name: entry.name,
      ...(!(dryRunState !== undefined && matched.added.has(entry.uid)) && {
        redirectUri: broker.redirectUri(entry),
      }),
      missing: missingSettings(broker, entry),
    })),
    warnings,
  }
}

/**
 * Adds what the issuers of its `oauth` entries publish as metadata. Returns the refusal if one is needed and cannot
 * be read.
 */
async function withDiscovered(broker: Broker, metadata: ToolMetadata): Promise<ToolMetadata | BrokerError> {
  try {
    const oauth: OAuthEntry[] = []
    for (const entry of metadata.oauth)
      oauth.push({ ...entry, provider: await withDiscoveredMetadata(broker, entry.provider) })
    return { ...metadata, oauth }
  } catch (error) {
    if (error instanceof BrokerError) return error
    throw error
  }
}

async function matchProviders(
  broker: Broker,
  metadata: ToolMetadata,
  tool: Pick<Tool, 'uid' | 'projectId'>,
  { warnings, dryRunState }: { readonly warnings: Warning[]; readonly dryRunState: DryRunState | undefined },
): Promise<{
  readonly entries: readonly ProviderEntry[]
  /** The uids of entries that are not stored yet. */
  readonly added: ReadonlySet<string>
  readonly changed: readonly ProviderEntry[]
  readonly requirements: readonly AuthorizationRequirement[]
}> {
  const { store } = broker
  const [stored, storedTools] = await Promise.all([
    store.providers.list(tool.projectId),
    store.tools.list(tool.projectId),
  ])
  const isInDryRun = new Set([...(dryRunState?.tools.values() ?? [])].map(({ uid }) => uid))
  const tools = [
    ...storedTools.filter(({ uid }) => !isInDryRun.has(uid)),
    ...(dryRunState?.tools.values() ?? []),
  ]
  const all = new Map(stored.map((entry) => [entry.uid, entry]))
  const isStored = new Set(all.keys())
  for (const [uid, entry] of dryRunState?.entries ?? []) all.set(uid, entry)
  const changed = new Map<string, ProviderEntry>()
  const scopes = new Map<string, readonly string[]>()
  for (const [index, wanted] of metadata.oauth.entries()) {
    const matched = matchProvider(broker, wanted, { entries: [...all.values()], tools, tool })
    const { entry, warning } = matched
    all.set(entry.uid, entry)
    if (matched.changed) changed.set(entry.uid, entry)
    if (warning !== undefined) warnings.push({ path: `oauth[${index}]`, message: warning })
    if (entry.clientId === undefined && broker.environmentClient(entry)?.allowed === false)
      warnings.push({ path: `oauth[${index}]`, message: unconfirmed(entry) })
    scopes.set(entry.uid, unionOfScopes(scopes.get(entry.uid) ?? [], wanted.scopes))
  }
  return {
    entries: [...scopes.keys()].flatMap((uid) => all.get(uid) ?? []),
    added: new Set([...scopes.keys()].filter((uid) => !isStored.has(uid))),
    changed: [...changed.values()],
    requirements: [...scopes].map(([providerUid, needed]) => ({ providerUid, scopes: needed })),
  }
}

/** The binding to the worker's tool of the same name, ignoring case and punctuation. */
async function bindingFor(
  broker: Broker,
  metadata: ToolMetadata,
  worker: Worker,
  warnings: Warning[],
): Promise<ToolBinding | undefined> {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  const tools = await broker.store.tools.list(worker.projectId)
  const found = tools.find(
    ({ source, name, namespace }) =>
      source.kind === 'worker' &&
      source.workerUid === worker.uid &&
      [plain(name), plain(namespace + name)].includes(plain(metadata.name)),
  )
  if (found?.binding !== undefined) return found.binding
  warnings.push({
    path: 'name',
    message: `The worker "${worker.id}" has no tool of this name, so nothing runs this one yet. Bind it by POST /v1/tools/{name}/binding.`,
  })
  return undefined
}

/** The file's keywords, as tags. */
function keywordsOf({ document }: ToolMetadata): string[] {
  const content = Array.isArray(document.content) ? document.content[0] : undefined
  const { keywords } = isRecord(content) ? content : document
  return normalizeTags(Array.isArray(keywords) ? keywords.filter((one) => typeof one === 'string') : [])
}

function digestOf(broker: Broker, { document, oauth }: ToolMetadata): string {
  const secrets = oauth.map(({ clientSecret }) =>
    clientSecret === undefined ? '' : broker.audit.fingerprint(clientSecret),
  )
  return sha256(JSON.stringify([document, secrets]))
}
