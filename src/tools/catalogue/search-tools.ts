import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { normalizeTags } from '../../domain/tags.ts'
import { type AuthorizationRequirement, type Tool, toolAliases } from '../../domain/tool.ts'
import { getProviderIn, providersOf } from '../../flows/get-provider.ts'
import type { ProviderBook } from '../../flows/provider-book.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { asText } from '../read-json.ts'
import { createTimeBudget } from '../slices.ts'
import { requirementStatuses } from './tool-requirements.ts'

/** The conditions of a search. An absent member is no condition. */
export interface ToolSearch {
  /** Words that must all occur in the tool's names, description or tags. */
  readonly text?: string
  /** The tool has one of these. */
  readonly tags?: readonly string[]
  /** The tool needs this provider: an entry's id, or the id of a well-known provider. */
  readonly provider?: string
  /** Whether the tool's requirements are met; with `userId`, including that user's consents. */
  readonly met?: boolean
  readonly userId?: string
  readonly filter?: BehaviourFilter
}

/** Conditions on what a worker states of its tool's behaviour. */
export interface BehaviourFilter {
  readonly serviceDomains?: ListFilter
  readonly operations?: ListFilter
  readonly flags: Readonly<Partial<Record<BehaviourFlag, boolean>>>
  readonly extras: JsonRecord
}

export type BehaviourFlag = 'readOnly' | 'destructive' | 'idempotent' | 'openWorld'

/** In lower case. */
export interface ListFilter {
  readonly anyOf?: readonly string[]
  readonly allOf?: readonly string[]
  readonly noneOf?: readonly string[]
}

/** The tools that fit the search, in their order. */
export async function searchTools(
  broker: Broker,
  tools: readonly Tool[],
  search: ToolSearch,
): Promise<readonly Tool[]> {
  const { text = '', tags = [], provider, met, userId, filter } = search
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const wantedTags = normalizeTags(tags)
  const hasFilter = words.length > 0 || wantedTags.length > 0 || filter !== undefined
  const found = hasFilter
    ? await filterInSlices(
        tools,
        (tool) =>
          hasAll(tool, words) &&
          (wantedTags.length === 0 || wantedTags.some((tag) => tool.tags.includes(tag))) &&
          (filter === undefined || behaves(tool, filter)),
      )
    : tools
  const ofProvider = provider === undefined ? found : await withProvider(broker, found, provider)
  const [first] = ofProvider
  if (met === undefined || first === undefined) return ofProvider
  const statuses = await requirementStatuses(broker, first.projectId, ofProvider, userId)
  return ofProvider.filter((_, i) => statuses[i]?.met === met)
}

/** The number of tools between two reads of the clock. A read takes about as long as the check of a tool. */
const BETWEEN_PAUSES = 100

/** `filter` in slices. */
async function filterInSlices(
  tools: readonly Tool[],
  fits: (tool: Tool) => boolean,
): Promise<readonly Tool[]> {
  const budget = createTimeBudget()
  const found: Tool[] = []
  for (const [i, tool] of tools.entries()) {
    if (fits(tool)) found.push(tool)
    // awaiting nothing for each of 10,000 tools would take half of the time
    const pause = i % BETWEEN_PAUSES === 0 ? budget.pause() : undefined
    if (pause !== undefined) await pause
  }
  return found
}

const searchTexts = new WeakMap<Tool, string>()

/** The text in which words are searched, in lower case. */
function searchText(tool: Tool): string {
  const known = searchTexts.get(tool)
  if (known !== undefined) return known
  const made = [...toolAliases(tool), tool.title, tool.description, ...tool.tags].join('\n').toLowerCase()
  searchTexts.set(tool, made)
  return made
}

function hasAll(tool: Tool, words: readonly string[]): boolean {
  if (words.length === 0) return true
  const text = searchText(tool)
  return words.every((word) => text.includes(word))
}

async function withProvider(broker: Broker, tools: readonly Tool[], name: string): Promise<readonly Tool[]> {
  const wanted = name.toLowerCase()
  const [first] = tools
  if (first === undefined) return tools
  const namesOf = createProviderNames(await providersOf(broker, first.projectId))
  return filterInSlices(tools, (tool) => namesOf(tool).includes(wanted))
}

/**
 * Makes the function that returns the names, in lower case, of the providers that a tool may need: those of its
 * requirements, and the `id` and `wellKnownId` of the entries. It finds the entry of each requirement once.
 */
export function createProviderNames(providers: ProviderBook): (tool: Tool) => readonly string[] {
  const known = new Map<string, readonly string[]>()

  function namesOf(need: AuthorizationRequirement): readonly string[] {
    const entry = need.providerUid === undefined ? entryFor(need) : providers.byUid(need.providerUid)
    const names = [need.id, need.providerId, entry?.id, entry?.wellKnownId]
    return names.flatMap((name) => (name === undefined ? [] : [name.toLowerCase()]))
  }

  function entryFor(need: AuthorizationRequirement): ProviderEntry | undefined {
    try {
      return getProviderIn(providers, need)
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      return undefined
    }
  }

  return ({ requirements: { authorization, alternatives = [] } }) =>
    [...authorization, ...alternatives.flat()].flatMap((need) => {
      const key = JSON.stringify([need.providerUid, need.id, need.providerId])
      const found = known.get(key) ?? namesOf(need)
      known.set(key, found)
      return found
    })
}

/** The names of the flags in a worker's metadata. */
const FLAG_MEMBERS = {
  readOnly: 'read_only',
  destructive: 'destructive',
  idempotent: 'idempotent',
  openWorld: 'open_world',
} as const satisfies Record<BehaviourFlag, string>

/** The metadata of a tool in the form of Arcade's worker protocol: from its worker, or else made of MCP's hints. */
export function toolMetadata({ source, annotations = {} }: Tool): JsonRecord | undefined {
  const { metadata } = source.kind === 'worker' ? source.document : {}
  if (isRecord(metadata)) return metadata
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations
  const behavior = {
    ...(readOnlyHint !== undefined && { read_only: readOnlyHint }),
    ...(destructiveHint !== undefined && { destructive: destructiveHint }),
    ...(idempotentHint !== undefined && { idempotent: idempotentHint }),
    ...(openWorldHint !== undefined && { open_world: openWorldHint }),
  }
  return Object.keys(behavior).length > 0 ? { behavior } : undefined
}

function behaves(tool: Tool, { serviceDomains, operations, flags, extras }: BehaviourFilter): boolean {
  const metadata = toolMetadata(tool)
  const part = (name: string): JsonRecord => {
    const value = metadata?.[name]
    return isRecord(value) ? value : {}
  }
  const [behavior, classification, own] = [part('behavior'), part('classification'), part('extras')]
  return (
    matchesList(serviceDomains, classification.service_domains) &&
    matchesList(operations, behavior.operations) &&
    Object.entries(flags).every(
      ([flag, value]) => behavior[FLAG_MEMBERS[flag as BehaviourFlag]] === value, // the type of `Object.entries` loses the names
    ) &&
    Object.entries(extras).every(([name, value]) => JSON.stringify(own[name]) === JSON.stringify(value))
  )
}

function matchesList({ anyOf, allOf, noneOf }: ListFilter = {}, values: unknown): boolean {
  const has = new Set(Array.isArray(values) ? values.map((value) => asText(value).toLowerCase()) : [])
  return (
    (anyOf === undefined || anyOf.some((value) => has.has(value))) &&
    (allOf === undefined || allOf.every((value) => has.has(value))) &&
    (noneOf === undefined || !noneOf.some((value) => has.has(value)))
  )
}
