import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { newId, sha256 } from '../../domain/ids.ts'
import { unionOfScopes } from '../../domain/scopes.ts'
import { normalizeTags } from '../../domain/tags.ts'
import { type AuthorizationRequirement, type Tool, type ToolBinding, toolId } from '../../domain/tool.ts'
import { hasOwnName, IMPORTS, type ToolName, toolIdentity } from '../../domain/tool-name.ts'
import type { Worker } from '../../domain/worker.ts'
import { missingSettings, unconfirmed } from '../../flows/get-provider.ts'
import { withDiscoveredMetadata } from '../../flows/issuer-metadata.ts'
import { isRecord } from '../../parsing/json-record.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { ownerNameOf } from '../catalogue/name-claims.ts'
import { toolFaults } from '../catalogue/validate-tool.ts'
import type { ImportState } from './import-state.ts'
import { matchProvider } from './match-provider.ts'
import type { Warning } from './metadata-member.ts'
import { readToolMetadata, type ToolMetadata } from './read-metadata.ts'
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

/** The result for one document, and the rows to write for it. */
export interface ReadDocument {
  readonly imported: ImportedTool
  readonly write?: {
    readonly tool: Tool
    readonly entries: readonly ProviderEntry[]
    /** The name of the tool, if it was free. */
    readonly name?: ToolName | undefined
  }
}

export interface DocumentToRead {
  readonly projectId: string
  readonly document: unknown
  readonly worker: Worker | undefined
  readonly state: ImportState
  readonly dryRun: boolean
}

/** Finds out what the import of one document changes. Writes nothing. */
export async function readDocument(
  broker: Broker,
  { projectId, document, worker, state, dryRun }: DocumentToRead,
): Promise<ReadDocument> {
  const reading = readToolMetadata(document, { allowsHttp: (url) => broker.outgoing.allows(url) })
  const warnings = [...reading.warnings]
  const refused = (name: string, reason: string): ReadDocument => ({
    imported: { name, result: 'refused', reason, providers: [], warnings },
  })
  if (reading.outcome === 'refused') return refused(reading.name, reading.reason)
  const metadata = await withDiscovered(broker, reading.tool)
  if (metadata instanceof BrokerError) return refused(reading.tool.title, metadata.message)
  const tags = keywordsOf(metadata)
  const faults = await toolFaults({ ...metadata, tags }, projectId)
  if (faults.length > 0) return refused(metadata.title, faults.join(' '))
  const known = state.find(toolId(metadata).toLowerCase())
  if (known !== undefined && known.source.kind !== 'metadata')
    return refused(
      metadata.title,
      `A worker already lists the tool ${toolId(known)}. Give this one another name, tool_set or version.`,
    )

  // refuse two tools under one id; a title that differs only in case is the same tool
  if (known !== undefined && known.title.toLowerCase() !== metadata.title.toLowerCase())
    return refused(
      metadata.title,
      `"${metadata.title}" and "${known.title}" would have the same id ${toolId(known)}. Give this one another name, tool_set or version, or delete the other first (gatepass tools delete ${toolId(known)}).`,
    )
  const uid = known?.uid ?? newId('tool')
  const matched = matchProviders(broker, metadata, { uid, projectId }, { warnings, state })
  const binding = worker ? bindingFor(state, metadata, worker, warnings) : known?.binding
  const now = broker.now()
  const tool: Tool = {
    uid,
    projectId,
    namespace: metadata.namespace,
    name: metadata.name,
    version: metadata.version,
    title: metadata.title,
    description: metadata.description,
    inputSchema: metadata.inputSchema,
    tags,
    outputSchema: metadata.outputSchema,
    requirements: { authorization: matched.requirements, secrets: metadata.secrets, metadata: [] },
    source: { kind: 'metadata', document: metadata.document },
    binding,
    digest: digestOf(broker, metadata),
    createdAt: known?.createdAt ?? now,
    updatedAt: now,
  }
  const name = await nameOf(broker, { ...tool, ...(known?.owner && { owner: known.owner }) }, warnings)
  const owner = name ?? known?.owner
  const named: Tool = { ...tool, ...(owner && { owner }) }
  const isUnchanged =
    known !== undefined &&
    name === undefined &&
    known.digest === tool.digest &&
    matched.changed.length === 0 &&
    JSON.stringify([known.requirements, known.binding]) === JSON.stringify([tool.requirements, tool.binding])
  return {
    imported: {
      name: metadata.title,
      toolId: toolId(tool),
      result: known === undefined ? 'created' : isUnchanged ? 'unchanged' : 'updated',
      providers: matched.entries.map((entry) => ({
        id: entry.id,
        name: entry.name,
        ...(!(dryRun && state.storedEntry(entry.uid) === undefined) && {
          redirectUri: broker.redirectUri(entry),
        }),
        missing: missingSettings(broker, entry),
      })),
      warnings,
    },
    ...(!isUnchanged && { write: { tool: named, entries: matched.changed, name } }),
  }
}

/**
 * The row that gives the tool its name; `undefined` if it has the name already. Warns when the name belongs to another
 * source.
 */
async function nameOf(broker: Broker, tool: Tool, warnings: Warning[]): Promise<ToolName | undefined> {
  if (hasOwnName(tool)) return undefined
  const { projectId } = tool
  const identity = toolIdentity(tool)
  const [owner] = await broker.store.toolNames.find(projectId, [identity])
  if (owner === undefined) return { projectId, identity, source: IMPORTS, since: broker.now() }
  if (!hasOwnName({ ...tool, owner }))
    warnings.push({
      path: 'name',
      message: `The name belongs to the source "${await ownerNameOf(broker, owner.source)}", so this tool is in no list and is found by its full id alone: ${toolId(tool)}.`,
    })
  return undefined
}

/**
 * Adds the metadata that the issuers in the tool's `oauth` entries publish. Returns the error if metadata that is
 * needed cannot be read.
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

function matchProviders(
  broker: Broker,
  metadata: ToolMetadata,
  tool: Pick<Tool, 'uid' | 'projectId'>,
  { warnings, state }: { readonly warnings: Warning[]; readonly state: ImportState },
): {
  readonly entries: readonly ProviderEntry[]
  readonly changed: readonly ProviderEntry[]
  readonly requirements: readonly AuthorizationRequirement[]
} {
  if (metadata.oauth.length === 0) return { entries: [], changed: [], requirements: [] }
  const all = new Map(state.entries)
  const changed = new Map<string, ProviderEntry>()
  const scopes = new Map<string, readonly string[]>()
  for (const [index, wanted] of metadata.oauth.entries()) {
    const matched = matchProvider(broker, wanted, { state: { ...state, entries: all }, tool })
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
    changed: [...changed.values()],
    requirements: [...scopes].map(([providerUid, needed]) => ({ providerUid, scopes: needed })),
  }
}

/** The binding to the worker's tool of the same name, ignoring case and punctuation. */
function bindingFor(
  state: ImportState,
  metadata: ToolMetadata,
  worker: Worker,
  warnings: Warning[],
): ToolBinding | undefined {
  const found = state.findAtWorker(worker, metadata.name)
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
  return normalizeTags(
    Array.isArray(keywords) ? keywords.filter((keyword) => typeof keyword === 'string') : [],
  )
}

function digestOf(broker: Broker, { document, oauth }: ToolMetadata): string {
  const secrets = oauth.map(({ clientSecret }) =>
    clientSecret === undefined ? '' : broker.audit.fingerprint(clientSecret),
  )
  return sha256(JSON.stringify([document, secrets]))
}
