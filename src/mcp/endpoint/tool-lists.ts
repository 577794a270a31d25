import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Broker } from '../../broker.ts'
import type { Tool } from '../../domain/tool.ts'
import { createReadCache } from '../../services/read-cache.ts'
import { findToolsNamed } from '../../tools/catalogue/get-tool.ts'
import { SHOWN_NOUNS, toolsAt } from '../../tools/catalogue/selected-tools.ts'
import type { ShownTool, ShownTools } from '../../tools/catalogue/shown-tools.ts'
import { refusedTools } from '../../tools/run/refused-tools.ts'
import { createTimeBudget } from '../../tools/slices.ts'
import { gatewayTools } from '../gateway-tools/gateway-tools.ts'
import type { Era, Exchange } from './exchange.ts'
import { listedJson } from './listed-tool.ts'

/** The part of a request that decides which tools it may see. */
export type Viewer = Pick<Exchange, 'principal' | 'toolsetId'>

export interface ToolLists {
  /** A change of such a row may change a list. */
  readonly nouns: ReadonlySet<string>
  /** The tools that the viewer sees. Throws `not_found` for a toolset that does not exist. */
  listFor(viewer: Viewer): Promise<ToolList>
  /** The tool that the viewer may call by this name; `undefined` if there is none, or if the viewer does not see it. */
  find(viewer: Viewer, name: string): Promise<ShownTool | undefined>
}

/** The tools that one viewer sees. */
export interface ToolList extends Pick<ShownTools, 'listing' | 'selection'> {
  /** The tools in a stable order. */
  readonly shown: readonly ShownTool[]
  /** The number of tools in `tools/list`, including Gatepass' own. */
  readonly length: number
  /** A page of `tools/list` that begins with the tool number `start`. */
  page(era: Era, start: number): Promise<ListedPage>
  /** Equal for two lists exactly if clients see the same list. */
  digest(): Promise<string>
}

export interface ListedPage {
  /** The tools as the JSON of an array, in UTF-8. */
  readonly json: Buffer
  /** Where the next page begins. */
  readonly end: number
}

/** In characters, with namespace and version. Longer names would fill the cache of names. */
const MAX_NAME = 600
/** The most cached lists that differ by user. */
const MAX_FILTERED = 2_000

/** Many clients read the first page only, so it has room for 1,000 tools of the project and Gatepass' own tools. */
const PAGE_TOOLS = 1_010
/** A page is written in one iteration of the event loop. Ordinary tools have 1,000 to 5,000 characters each. */
const PAGE_CHARACTERS = 8 * 1024 * 1024

/** Pages as they are sent, for all projects together. Joining and encoding 1,000 texts takes a third of a request's time. */
const pages = new LRUCache<string, ListedPage>({
  maxSize: 32 * 1024 * 1024,
  sizeCalculation: ({ json }, key) => json.length + key.length + 200,
})
/** The number of the newest list. A list whose tools have changed is a new one, so its old pages are never used. */
let lastList = 0

/** The JSON of each tool is made once, until the tool changes, in slices: a hostile schema takes milliseconds. */
export function createToolLists(broker: Broker): ToolLists {
  const nouns = new Set([...SHOWN_NOUNS, 'worker', ...broker.gate.nouns])
  /** A cache for projects in which the gate refuses nothing, by the tools that a path shows. */
  const whole = new WeakMap<ShownTools, ToolList>()
  const filtered = createReadCache<Filtered>(broker.store, {
    max: MAX_FILTERED,
    forgets: ({ noun }) => (nouns.has(noun) ? 'all' : undefined),
  })

  async function listFor({ principal: { projectId, userId }, toolsetId }: Viewer): Promise<ToolList> {
    const from = await toolsAt(broker, projectId, toolsetId)
    const isRefused = await refusedTools(broker, projectId, userId)
    if (isRefused === undefined) return wholeList(from)
    const read = async () => ({ from, list: toList(from, await permitted(from.tools, isRefused)) })
    const key = JSON.stringify([projectId, toolsetId, userId])
    const known = await filtered.get(key, read) // may be of tools that have changed
    return known.from === from ? known.list : (await read()).list
  }

  function wholeList(from: ShownTools): ToolList {
    const list = whole.get(from) ?? toList(from, from.tools)
    whole.set(from, list)
    return list
  }

  return {
    nouns,

    listFor,

    async find(viewer, name) {
      if (name.length > MAX_NAME) return undefined
      const { projectId, userId } = viewer.principal
      const { tools, selection, find, isRetired } = await toolsAt(broker, projectId, viewer.toolsetId)
      const isRefused = await refusedTools(broker, projectId, userId)
      const found = find(name) ?? (isRetired(name) ? undefined : await findByAlias(name))
      return found === undefined || (await isRefused?.(found.tool)) === true ? undefined : found

      /** Finds a tool by any other of its names, or an older version. */
      async function findByAlias(name: string): Promise<ShownTool | undefined> {
        const [tool, ...others] = await findToolsNamed(broker, projectId, name)
        if (tool === undefined || others.length > 0) return undefined
        const isShown = selection === undefined || tools.some((shown) => isSameTool(shown.tool, tool))
        return isShown ? { name, tool } : undefined
      }
    },
  }
}

interface Filtered {
  readonly from: ShownTools
  readonly list: ToolList
}

function isSameTool(a: Tool, b: Tool): boolean {
  return a.uid === b.uid
}

/** How many tools are checked concurrently: some checks read from the database. */
const AT_ONCE = 20

/** The tools that are not refused, found without blocking the event loop. */
async function permitted(
  tools: readonly ShownTool[],
  isRefused: (tool: Tool) => Promise<boolean>,
): Promise<readonly ShownTool[]> {
  const budget = createTimeBudget()
  const found: ShownTool[] = []
  for (let from = 0; from < tools.length; from += AT_ONCE) {
    const some = tools.slice(from, from + AT_ONCE)
    const refused = await Promise.all(some.map(({ tool }) => isRefused(tool)))
    found.push(...some.filter((_, i) => refused[i] !== true))
    await budget.pause()
  }
  return found
}

function toList({ listing, selection }: ShownTools, shown: readonly ShownTool[]): ToolList {
  const own = gatewayTools(listing).map(({ name, definition }) => JSON.stringify({ name, ...definition }))
  const listed = listing === 'all' ? shown : []
  const count = own.length + listed.length
  const textOf = (i: number, era: Era) => own[i] ?? listedJson(listed[i - own.length] as ShownTool, era)
  const number = ++lastList
  let digest: Promise<string> | undefined
  return {
    listing,
    selection,
    shown,
    length: count,
    async page(era, start) {
      const key = `${number} ${era} ${start}`
      const known = pages.get(key)
      if (known !== undefined) return known
      const budget = createTimeBudget()
      const texts: string[] = []
      let characters = 0
      for (let i = start; i < Math.min(count, start + PAGE_TOOLS); i++) {
        const text = textOf(i, era)
        characters += text.length
        if (characters > PAGE_CHARACTERS && i > start) break
        texts.push(text)
        const pause = budget.pause() // awaiting nothing would take half of the time
        if (pause !== undefined) await pause
      }
      const made = { json: Buffer.from(`[${texts.join()}]`), end: start + texts.length }
      pages.set(key, made)
      return made
    },
    digest() {
      digest ??= digestOf(own, listed)
      return digest
    },
  }
}

/** The digests of the texts of a tool, by its name in a list. They outlive the texts in their cache. */
const digests = new WeakMap<Tool, Map<string, string>>()

async function digestOf(own: readonly string[], listed: readonly ShownTool[]): Promise<string> {
  const budget = createTimeBudget()
  const all = createHash('sha256').update(own.join())
  for (const shown of listed) {
    const ofTool = digests.get(shown.tool) ?? new Map<string, string>()
    digests.set(shown.tool, ofTool)
    const known = ofTool.get(shown.name) ?? sha256(listedJson(shown, 'modern'))
    ofTool.set(shown.name, known)
    all.update(known)
    const pause = budget.pause() // awaiting nothing would take half of the time
    if (pause !== undefined) await pause
  }
  return all.digest('base64url')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
