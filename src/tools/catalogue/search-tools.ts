import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { normalizeTags } from '../../domain/tags.ts'
import { type Tool, toolAliases } from '../../domain/tool.ts'
import { findEntry } from '../../flows/find-provider.ts'
import { isRecord, type JsonRecord } from '../read-json.ts'
import { requirementStatus } from './tool-requirements.ts'

/** What a caller searches for. An absent member leaves no tool out. */
export interface ToolSearch {
  /** Words that must all occur in the tool's names, description or tags. */
  readonly text?: string
  /** The tool has one of these. */
  readonly tags?: readonly string[]
  /** The tool needs this provider: an entry's id, or the id of a well-known provider. */
  readonly provider?: string
  /** Whether everything that the tool needs is there, for `userId` where a user is named. */
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
  const found = tools.filter(
    (tool) =>
      hasAll(tool, words) &&
      (wantedTags.length === 0 || wantedTags.some((tag) => tool.tags.includes(tag))) &&
      (filter === undefined || behaves(tool, filter)),
  )
  const ofProvider = provider === undefined ? found : await withProvider(broker, found, provider)
  if (met === undefined) return ofProvider
  const statuses = await Promise.all(ofProvider.map((tool) => requirementStatus(broker, tool, userId)))
  return ofProvider.filter((_, i) => statuses[i]?.met === met)
}

function hasAll(tool: Tool, words: readonly string[]): boolean {
  if (words.length === 0) return true
  const text = [...toolAliases(tool), tool.description, ...tool.tags].join('\n').toLowerCase()
  return words.every((word) => text.includes(word))
}

async function withProvider(broker: Broker, tools: readonly Tool[], name: string): Promise<readonly Tool[]> {
  const wanted = name.toLowerCase()
  const needs = async (tool: Tool) => {
    const { authorization, alternatives = [] } = tool.requirements
    for (const need of [...authorization, ...alternatives.flat()]) {
      if ([need.id, need.providerId].some((one) => one?.toLowerCase() === wanted)) return true
      const entry =
        need.providerUid === undefined
          ? await findEntry(broker, tool.projectId, need).catch(ignoreUnknown)
          : await entryByUid(broker, tool.projectId, need.providerUid)
      if ([entry?.id, entry?.wellKnownId].some((one) => one?.toLowerCase() === wanted)) return true
    }
    return false
  }
  const has = await Promise.all(tools.map(needs))
  return tools.filter((_, i) => has[i])
}

async function entryByUid(broker: Broker, projectId: string, uid: string) {
  const entries = await broker.cache.providers.get(projectId, () => broker.store.providers.list(projectId))
  return entries.find((one) => one.uid === uid)
}

function ignoreUnknown(error: unknown): undefined {
  if (!(error instanceof BrokerError)) throw error
  return undefined
}

/** The members of a worker's metadata. */
const FLAG_MEMBERS = {
  readOnly: 'read_only',
  destructive: 'destructive',
  idempotent: 'idempotent',
  openWorld: 'open_world',
} as const satisfies Record<BehaviourFlag, string>

/** The metadata of a tool in the form of Arcade's worker protocol: what its worker states, else what MCP's hints say. */
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
  const has = new Set(Array.isArray(values) ? values.map((value) => String(value).toLowerCase()) : [])
  return (
    (anyOf === undefined || anyOf.some((one) => has.has(one))) &&
    (allOf === undefined || allOf.every((one) => has.has(one))) &&
    (noneOf === undefined || !noneOf.some((one) => has.has(one)))
  )
}
