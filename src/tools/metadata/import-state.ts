import type { Broker } from '../../broker.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { isNewerVersion } from '../catalogue/versions.ts'
import { runInSlices, type Steps } from '../slices.ts'

/**
 * The tools and provider entries of a project during an import: those that are stored, and those that the import has made
 * so far. Maps hold them, because each document of the import looks them up.
 */
export interface ImportState {
  /** The tool of that id. `id` must be in lower case. */
  find(id: string): Tool | undefined
  readonly entries: ReadonlyMap<string, ProviderEntry>
  /** The stored entry of that uid, without changes by the import; `undefined` for an entry that the import has made. */
  storedEntry(uid: string): ProviderEntry | undefined
  /** Whether the tool of that uid needs the entry. */
  isNeededBy(entry: ProviderEntry, uid: string): boolean
  /** Whether a tool with another uid needs the entry. */
  isNeededByOthers(entry: ProviderEntry, uid: string): boolean
  /** The worker's tool of that name, ignoring case and punctuation, in its newest version. */
  findAtWorker(worker: Worker, name: string): Tool | undefined
  add(tool: Tool, entries: readonly ProviderEntry[]): void
}

/**
 * Reads the state from the cache, in which changes of other processes may be missing for some milliseconds, or, with
 * `isExact`, from the database.
 */
export async function readImportState(
  { cache, store }: Broker,
  projectId: string,
  { isExact = false }: { readonly isExact?: boolean } = {},
): Promise<ImportState> {
  const [tools, entries] = isExact
    ? await Promise.all([store.tools.list(projectId), store.providers.list(projectId)])
    : await Promise.all([cache.catalogue.of(projectId), cache.providers.of(projectId)])
  return runInSlices(makeState(tools, entries))
}

function* makeState(tools: readonly Tool[], stored: readonly ProviderEntry[]): Steps<ImportState> {
  const byId = new Map<string, Tool>()
  /** The uids of the tools that need an entry, by the entry's uid. */
  const usersOf = new Map<string, Set<string>>()
  const entries = new Map(stored.map((entry) => [entry.uid, entry]))
  const storedEntries = new Map(entries)
  let atWorkers: Map<string, Tool> | undefined

  function addTool(tool: Tool): void {
    const id = toolId(tool).toLowerCase()
    const before = byId.get(id)
    if (before?.uid === tool.uid)
      for (const { providerUid } of before.requirements.authorization)
        if (providerUid !== undefined) usersOf.get(providerUid)?.delete(tool.uid)
    byId.set(id, tool)
    for (const { providerUid } of tool.requirements.authorization) {
      if (providerUid === undefined) continue
      const known = usersOf.get(providerUid) ?? new Set()
      usersOf.set(providerUid, known.add(tool.uid))
    }
  }

  for (const tool of tools) {
    addTool(tool)
    yield
  }
  return {
    entries,
    find: (id) => byId.get(id),
    storedEntry: (uid) => storedEntries.get(uid),
    isNeededBy: (entry, uid) => usersOf.get(entry.uid)?.has(uid) === true,
    isNeededByOthers(entry, uid) {
      const known = usersOf.get(entry.uid)
      return known !== undefined && known.size > (known.has(uid) ? 1 : 0)
    },
    findAtWorker({ uid }, name) {
      atWorkers ??= namesAtWorkers(tools)
      return atWorkers.get(`${uid} ${simplified(name)}`)
    },
    add(tool, changed) {
      addTool(tool)
      for (const entry of changed) entries.set(entry.uid, entry)
    },
  }
}

/** The first tool with each name, in its newest version. A tool has two names: with and without its namespace. */
function namesAtWorkers(tools: readonly Tool[]): Map<string, Tool> {
  const names = new Map<string, Tool>()
  for (const tool of tools) {
    const { source, name, namespace } = tool
    if (source.kind !== 'worker') continue
    for (const spelling of [simplified(name), simplified(namespace + name)]) {
      const key = `${source.workerUid} ${spelling}`
      const known = names.get(key)
      if (known === undefined || isNewerVersion(tool, known)) names.set(key, tool)
    }
  }
  return names
}

function simplified(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}
