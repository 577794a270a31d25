import { BrokerError } from '../../../domain/errors.ts'
import type { AllowsHttp } from '../../../egress/endpoint.ts'
import { isRecord, type JsonRecord } from '../../../parsing/json-record.ts'
import { readDefinition } from '../../../providers/definition/read-definition.ts'
import { matchingText } from '../../../providers/matching-text.ts'
import { PLACEHOLDERS } from '../../../providers/template.ts'
import { variableFault } from '../../../providers/variables.ts'

// What became of the providers of a foreign document: definitions of our format, and what was left out of each. Nothing is
// guessed: a member whose meaning here is not certain is left out and named.

/** A definition as `src/providers/definition` reads it. */
export interface DefinitionDocument {
  readonly id: string
  readonly name: string
  readonly category?: string
  readonly type?: 'credentials' | 'oauth1'
  readonly owner?: 'either'
  /** One of these three is there. */
  readonly oauth2?: Readonly<Record<string, unknown>>
  readonly oauth1?: Readonly<Record<string, unknown>>
  readonly credentials?: Readonly<Record<string, unknown>>
  /** An imported definition was not compared with the documentation of the provider. */
  readonly verified: false
}

export interface ImportedProvider {
  /** As the source names it. */
  readonly name: string
  /** `whole`: all that the source says of authorization. `part`: without the members of `notes`. */
  readonly carried: 'whole' | 'part' | 'none'
  /** Absent if nothing was carried over. */
  readonly definition?: DefinitionDocument
  /** Members of the source that were left out or changed, or the reason why nothing was carried over. */
  readonly notes: readonly ImportNote[]
}

export interface ImportNote {
  /** The member of the source, or of the definition that would have been made; empty: the whole. */
  readonly member: string
  readonly reason: string
}

export interface ImportOptions {
  /** Plain-http endpoints that are allowed; none by default. */
  readonly allowsHttp?: AllowsHttp
}

/** The pattern of a host's name or label, for a variable whose source has no pattern. */
export const ANY_PART = '[A-Za-z0-9._-]{1,255}'

/** A provider of which nothing is carried over. */
export function notCarried(name: string, reason: string, member = ''): ImportedProvider {
  return { name, carried: 'none', notes: [{ member, reason }] }
}

/** The definition after the check that every definition goes through; a faulty one is not carried over. */
export function carried(
  name: string,
  definition: Omit<DefinitionDocument, 'verified'>,
  notes: readonly ImportNote[],
  { allowsHttp = () => false }: ImportOptions = {},
): ImportedProvider {
  const whole: DefinitionDocument = {
    ...definition,
    ...(definition.oauth2 && { oauth2: withoutEmpty(definition.oauth2) }),
    ...(definition.oauth1 && { oauth1: withoutEmpty(definition.oauth1) }),
    ...(definition.credentials && { credentials: withoutEmpty(definition.credentials) }),
    verified: false,
  }
  const faults = definitionFaults(whole, allowsHttp)
  if (faults.length > 0) return { name, carried: 'none', notes: [...faults, ...notes] }
  return { name, carried: notes.length === 0 ? 'whole' : 'part', definition: whole, notes }
}

/** How many providers have each reason, the most frequent first; of those that were not carried over the first counts. */
export function countNotes(items: readonly ImportedProvider[]): readonly { reason: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const { notes, carried } of items) {
    const reasons = carried === 'none' ? notes.slice(0, 1).map(({ reason }) => reason) : notes.map(titleOf)
    for (const reason of new Set(reasons)) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  return [...counts].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count)
}

function titleOf({ member, reason }: ImportNote): string {
  return member === '' ? reason : `${member.split(/[.[]/, 1).join('')}: ${reason}`
}

/** The id of a definition for a name of the source; `undefined` if none can be made of it. */
export function idOf(name: string): string | undefined {
  const id = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return id === '' || id.length > 63 ? undefined : id
}

/** The name of a variable or a kept value for a name of the source (`tenantId` is `tenant_id`). */
export function variableName(name: string): string | undefined {
  const snake = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toLowerCase()
  const free = PLACEHOLDERS.includes(snake) ? `${snake}_value` : snake
  return /^[a-z][a-z_]{0,39}$/.test(free) ? free : undefined
}

/** An example of a variable that has no value: the source's own, else any text that its pattern takes. */
export function exampleOf(
  pattern: string,
  given: unknown,
  { isText = false }: { readonly isText?: boolean } = {},
): { readonly example?: string } {
  const candidates = [given, 'example', 'example.com', matchingText(pattern)]
  const example = candidates.find(
    (candidate) =>
      typeof candidate === 'string' &&
      variableFault({ pattern, value: candidate, ...(isText && { isText }) }) === undefined,
  )
  return typeof example === 'string' ? { example } : {}
}

function withoutEmpty(record: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(record).filter(
      ([, value]) => value !== undefined && !(isRecord(value) && Object.keys(value).length === 0),
    ),
  )
}

/** What is wrong with a definition, by member. */
function definitionFaults(definition: DefinitionDocument, allowsHttp: AllowsHttp): readonly ImportNote[] {
  try {
    readDefinition(definition, { allowsHttp })
    return []
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    const { faults = [{ path: '', message: error.message }] } = error
    return faults.map(({ path, message }) => ({ member: path, reason: message }))
  }
}
