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
import { changeRow } from '../../services/change-row.ts'
import { ownerNameOf } from '../catalogue/name-claims.ts'
import { MAX_CHARACTERS_WRITTEN, MAX_TOOLS_WRITTEN } from '../catalogue/store-changes.ts'
import { toolFaults } from '../catalogue/validate-tool.ts'
import { createTimeBudget } from '../slices.ts'
import { type ImportState, readImportState } from './import-state.ts'
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

export interface ImportOptions {
  readonly worker?: Worker | undefined
  /** Reports what an import would do, and writes nothing. */
  readonly dryRun?: boolean
}

/** The result for one document, and the rows to write for it. */
interface ReadDocument {
  readonly imported: ImportedTool
  readonly write?: {
    readonly tool: Tool
    readonly entries: readonly ProviderEntry[]
    /** The name of the tool, if it was free. */
    readonly name?: ToolName | undefined
  }
}

/**
 * Imports documents in their order. Each is imported completely or not at all, and importing it again changes nothing.
 * Several documents are written in one transaction, and other requests are served between two documents.
 */
export async function importTools(
  broker: Broker,
  projectId: string,
  documents: readonly unknown[],
  { worker, dryRun = false }: ImportOptions = {},
): Promise<ImportedTool[]> {
  const dryState = dryRun ? await readImportState(broker, projectId) : undefined
  const budget = createTimeBudget()
  const imported: ImportedTool[] = []
  while (imported.length < documents.length) {
    const state = dryState ?? (await readImportState(broker, projectId))
    const group: ReadDocument[] = []
    const next = documents.slice(imported.length, imported.length + MAX_TOOLS_WRITTEN)
    let characters = 0
    for (const document of next) {
      const read = await readDocument(broker, { projectId, document, worker, state, dryRun })
      group.push(read)
      if (read.write !== undefined) {
        state.add(read.write.tool, read.write.entries)
        characters += JSON.stringify(read.write.tool).length
      }
      const pause = budget.pause()
      if (pause !== undefined) await pause
      if (characters > MAX_CHARACTERS_WRITTEN) break
    }
    if (dryRun || (await tryWrite(broker, projectId, { state, group })))
      imported.push(...group.map((document) => document.imported))
    else
      for (const document of next.slice(0, group.length))
        imported.push(await importAlone(broker, { projectId, document, worker }))
  }
  return imported
}

interface GroupToWrite {
  /** The state with which the documents were read. */
  readonly state: ImportState
  readonly group: readonly ReadDocument[]
}

/**
 * Writes all documents in one transaction. Returns `false` when another request has just added one of their tools or
 * providers, or has changed one of their providers.
 */
async function tryWrite(broker: Broker, projectId: string, { state, group }: GroupToWrite): Promise<boolean> {
  const writes = group.flatMap(({ write }) => write ?? [])
  const [first, ...others] = writes.map(({ tool }) =>
    broker.audit.of(projectId, { action: 'tool.imported', tool: toolId(tool) }),
  )
  if (first === undefined) return true
  // several documents may change one entry: its last version includes the earlier changes
  const entries = new Map(writes.flatMap((write) => write.entries.map((entry) => [entry.uid, entry])))
  const changes = {
    put: writes.map(({ tool }) => tool),
    removed: [],
    names: writes.flatMap(({ name }) => name ?? []),
    entries: [...entries.values()].map((to) => {
      const from = state.storedEntry(to.uid)
      return { ...(from && { from }), to }
    }),
  }
  const audit = { ...first, lines: [...first.lines, ...others.flatMap(({ lines }) => lines)] }
  try {
    return await broker.store.tools.change(projectId, changes, audit)
  } catch (error) {
    if (error instanceof BrokerError && error.code === 'already_exists') return false
    throw error
  }
}

/** Imports one document. It is read again, because other requests have just added or changed tools or providers. */
async function importAlone(
  broker: Broker,
  of: Pick<DocumentToRead, 'projectId' | 'document' | 'worker'>,
): Promise<ImportedTool> {
  const { projectId } = of
  const read = () => readImportState(broker, projectId, { isExact: true })
  return changeRow('A tool or provider of the import', await read(), read, async (state) => {
    const document = await readDocument(broker, { ...of, state, dryRun: false })
    return (await tryWrite(broker, projectId, { state, group: [document] })) ? document.imported : undefined
  })
}

interface DocumentToRead {
  readonly projectId: string
  readonly document: unknown
  readonly worker: Worker | undefined
  readonly state: ImportState
  readonly dryRun: boolean
}

async function readDocument(
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
