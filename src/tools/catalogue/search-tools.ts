import type { Broker } from '../../broker.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { normalizeTags } from '../../domain/tags.ts'
import { type Tool, toolAliases } from '../../domain/tool.ts'
import { findEntry } from '../../flows/find-provider.ts'
import { isRecord, type JsonRecord } from '../read-json.ts'
import { toDefinition } from './tool-definition.ts'
import { requirementStatus } from './tool-requirements.ts'

/** What a caller looks for. Absent members leave nothing out. */
export interface ToolSearch {
  /** Words that all must stand in its names, its description or its tags. */
  readonly text?: string
  /** Any of these. */
  readonly tags?: readonly string[]
  /** It needs this provider: an entry's id, or a well-known kind. */
  readonly provider?: string
  /** Whether all it needs is there, for `userId` where one is said. */
  readonly met?: boolean
  readonly userId?: string
  /** Arcade's, on what a worker says of its tool's behaviour. */
  readonly filter?: BehaviourFilter
}

/** `{"service_domains": {"any_of": […]}, "operations": {…}, "read_only": true, …, "extras": {…}}` */
export interface BehaviourFilter {
  readonly lists: readonly {
    readonly member: 'service_domains' | 'operations'
    readonly anyOf?: readonly string[]
    readonly allOf?: readonly string[]
    readonly noneOf?: readonly string[]
  }[]
  readonly flags: Readonly<Record<string, boolean>>
  readonly extras: JsonRecord
}

/** Those of the tools that are looked for, in their order. */
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
  const said = [...toolAliases(tool), tool.description, ...tool.tags].join('\n').toLowerCase()
  return words.every((word) => said.includes(word))
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

const LISTS = ['service_domains', 'operations'] as const
const FLAGS = ['read_only', 'destructive', 'idempotent', 'open_world'] as const

/** Arcade's `filter`, JSON in a query. Throws `invalid_request` for what it does not know, so that nothing is left unfiltered. */
export function readBehaviourFilter(text: string): BehaviourFilter {
  const said = parse(text)
  const wrong = (what: string) => invalidMember('filter', 'invalid', `filter: ${what}`)
  if (!isRecord(said)) throw wrong('it must be a JSON object.')
  const unknown = Object.keys(said).filter(
    (name) => ![...LISTS, ...FLAGS, 'extras'].some((one) => one === name),
  )
  if (unknown.length > 0)
    throw wrong(
      `it has ${unknown.join(', ').slice(0, 200)}; it knows ${[...LISTS, ...FLAGS, 'extras'].join(', ')}.`,
    )
  const lists = LISTS.flatMap((member) => {
    const one = said[member]
    if (one === undefined) return []
    if (!isRecord(one)) throw wrong(`${member} must be an object of any_of, all_of, none_of.`)
    const extra = Object.keys(one).filter((name) => !['any_of', 'all_of', 'none_of'].includes(name))
    if (extra.length > 0) throw wrong(`${member} knows any_of, all_of and none_of.`)
    const list = (name: string) => {
      const values = one[name]
      if (values === undefined) return undefined
      if (Array.isArray(values) && values.every((value) => typeof value === 'string'))
        return values.map((value) => value.toLowerCase())
      throw wrong(`${member}.${name} must be a list of texts.`)
    }
    const [anyOf, allOf, noneOf] = [list('any_of'), list('all_of'), list('none_of')]
    return [{ member, ...(anyOf && { anyOf }), ...(allOf && { allOf }), ...(noneOf && { noneOf }) }]
  })
  const flags = FLAGS.flatMap((name) => {
    const value = said[name]
    if (value === undefined) return []
    if (typeof value !== 'boolean') throw wrong(`${name} must be true or false.`)
    return [[name, value] as const]
  })
  if (said.extras !== undefined && !isRecord(said.extras)) throw wrong('extras must be an object.')
  return { lists, flags: Object.fromEntries(flags), extras: said.extras ?? {} }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidMember('filter', 'invalid_json', 'filter: it is not valid JSON.')
  }
}

function behaves(tool: Tool, { lists, flags, extras }: BehaviourFilter): boolean {
  const metadata = toDefinition(tool, undefined).metadata ?? {}
  const behavior = isRecord(metadata.behavior) ? metadata.behavior : {}
  const classification = isRecord(metadata.classification) ? metadata.classification : {}
  const own = isRecord(metadata.extras) ? metadata.extras : {}
  const listed = lists.every(({ member, anyOf, allOf, noneOf }) => {
    const values = member === 'operations' ? behavior.operations : classification.service_domains
    const has = new Set(Array.isArray(values) ? values.map((value) => String(value).toLowerCase()) : [])
    return (
      (anyOf === undefined || anyOf.some((one) => has.has(one))) &&
      (allOf === undefined || allOf.every((one) => has.has(one))) &&
      (noneOf === undefined || !noneOf.some((one) => has.has(one)))
    )
  })
  return (
    listed &&
    Object.entries(flags).every(([name, value]) => behavior[name] === value) &&
    Object.entries(extras).every(([name, value]) => JSON.stringify(own[name]) === JSON.stringify(value))
  )
}
