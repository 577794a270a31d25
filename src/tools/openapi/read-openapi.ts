import { setImmediate } from 'node:timers/promises'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import type { CatalogueItem } from '../backend.ts'
import { quote, Refusal } from '../read-json.ts'
import { ForeignReference, type OpenapiDocument, resolved, textOf } from './openapi-document.ts'
import type { OperationChoice } from './openapi-settings.ts'
import { type FoundOperation, type ReadingOptions, readOperation, tagsOf } from './read-operation.ts'
import { securitySchemesOf } from './read-security.ts'
import { METHODS, type Method, planOf } from './request-plan.ts'

const MAX_OPERATIONS = 2000
/** How many tags a message suggests. */
const MAX_ADVICE = 8

/**
 * Reads each chosen operation as a tool, or the reason why it cannot be one. Those that need other documents get one
 * remark together. Yields to other work between operations. Throws `Refusal` when too many are chosen.
 */
export async function readOpenapi(
  document: OpenapiDocument,
  options: ReadingOptions,
): Promise<CatalogueItem[]> {
  const found = operationsOf(document)
  const chosen = found.filter((operation) => isChosen(operation, options.settings.operations))
  if (chosen.length > MAX_OPERATIONS)
    throw new Refusal(
      `The document has ${chosen.length} operations; up to ${MAX_OPERATIONS} become tools: choose them in operations.include${tagAdvice(chosen)}.`,
    )
  const requiresNothing = !declaresSecurity(document, found)
  const names = new Set<string>()
  const items: CatalogueItem[] = []
  const foreign: ForeignReference[] = []
  const open: string[] = []
  for (const operation of chosen) {
    await setImmediate()
    const { name } = operation
    try {
      if (operation.refusal !== undefined) throw operation.refusal
      if (names.has(name.toLowerCase())) throw new Refusal('Another operation has the same name.')
      names.add(name.toLowerCase())
      const tool = readOperation(document, { ...operation, requiresNothing }, options)
      items.push({ outcome: 'read', tool })
      if (planOf(tool.document).credentials.length === 0) open.push(name)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (error instanceof ForeignReference) foreign.push(error)
      else items.push({ outcome: 'refused', name, reason: error.message })
    }
  }
  items.push(...openRemark(open, options.settings))
  const [first] = foreign
  if (first === undefined) return items
  const which = foreign.length === 1 ? 'One operation refers' : `${foreign.length} operations refer`
  const message = `${which} to other documents (${quote(first.reference)}), which are not fetched: bundle the document into one file first, for instance with \`npx @redocly/cli bundle\`.`
  return [...items, { outcome: 'remark', message }]
}

/** A remark about operations that get no credential, unless the operator says in a mapping whether they get it. */
function openRemark(
  names: readonly string[],
  { authorization = {} }: ReadingOptions['settings'],
): CatalogueItem[] {
  const mappings = Object.values(authorization)
  if (names.length === 0 || mappings.length === 0) return []
  if (mappings.some(({ always }) => always !== undefined)) return []
  const which = names.length === 1 ? 'One operation' : `${names.length} operations`
  const verbs =
    names.length === 1
      ? 'needs no credential by the document and is'
      : 'need no credential by the document and are'
  const more = names.length > MAX_ADVICE ? ', …' : ''
  const message = `${which} ${verbs} called without one: ${names.slice(0, MAX_ADVICE).map(quote).join(', ')}${more}. Set "always": true for a name in authorization to send its credential with them too, or false to leave this remark out.`
  return [{ outcome: 'remark', message }]
}

/** Sentences about settings of the operator that have no effect on this document. */
export function unusedSettings(
  document: OpenapiDocument,
  { authorization = {}, operations: choice = {} }: ReadingOptions['settings'],
): string[] {
  const operations = operationsOf(document)
  const schemes = Object.keys(securitySchemesOf(document))
  const unknownSchemes = declaresSecurity(document, operations)
    ? Object.keys(authorization).filter((name) => !schemes.includes(name))
    : []
  const known = new Set(operations.flatMap((operation) => namesOf(operation)))
  const unknown = (list: readonly string[] = []) => list.filter((name) => !known.has(name))
  const say = (setting: string, names: readonly string[], problem: string) =>
    names.length === 0
      ? []
      : [`${setting} names ${names.slice(0, MAX_ADVICE).map(quote).join(', ')}, ${problem}`]
  return [
    ...say(
      'authorization',
      unknownSchemes,
      `but no security scheme of the document has that name (it has ${schemes.slice(0, MAX_ADVICE).map(quote).join(', ') || 'none'}).`,
    ),
    ...say(
      'operations.include',
      unknown(choice.include),
      'but no operation or tag of the document has that name.',
    ),
    ...say(
      'operations.exclude',
      unknown(choice.exclude),
      'but no operation or tag of the document has that name.',
    ),
  ]
}

/**
 * Whether the document declares any security. If it does not, the operator's settings apply to all operations
 * (OpenAPI 3.1 section 4.8.30).
 */
function declaresSecurity({ root }: OpenapiDocument, operations: readonly FoundOperation[]): boolean {
  return Array.isArray(root.security) || operations.some(({ operation }) => Array.isArray(operation.security))
}

/** Suggests the most frequent tags. */
function tagAdvice(operations: readonly FoundOperation[]): string {
  const counts = new Map<string, number>()
  for (const tag of operations.flatMap(({ operation }) => tagsOf(operation)))
    counts.set(tag, (counts.get(tag) ?? 0) + 1)
  const most = [...counts].sort(([, one], [, other]) => other - one).slice(0, MAX_ADVICE)
  if (most.length === 0) return ''
  return `, for instance by tag: ${most.map(([tag, count]) => `${quote(tag)} (${count})`).join(', ')}`
}

/** All operations except HEAD, OPTIONS and TRACE, whose answers have no content for a tool. */
function operationsOf(document: OpenapiDocument): FoundOperation[] {
  const paths = isRecord(document.root.paths) ? Object.entries(document.root.paths) : []
  return paths.flatMap(([path, item]): FoundOperation[] => {
    if (!path.startsWith('/') || !isRecord(item)) return []
    const target = typeof item.$ref === 'string' ? resolvedOr(document, item, 'The path') : item
    if (target instanceof Refusal) {
      const nothing = { method: 'GET', pathItem: item, operation: {} } as const
      return [{ ...nothing, name: path.slice(0, 128), path, refusal: target }]
    }
    const pathItem = { ...target, ...item }
    return METHODS.flatMap((method) => {
      const member = pathItem[method.toLowerCase()]
      if (!isRecord(member)) return []
      const operation =
        typeof member.$ref === 'string' ? resolvedOr(document, member, 'The operation') : member
      if (!(operation instanceof Refusal))
        return [{ name: nameOf(method, path, operation), method, path, pathItem, operation }]
      return [{ name: nameOf(method, path, {}), method, path, pathItem, operation: {}, refusal: operation }]
    })
  })
}

/** Returns the object that the reference leads to, or the reason why it cannot be read. */
function resolvedOr(document: OpenapiDocument, item: JsonRecord, what: string): JsonRecord | Refusal {
  try {
    return resolved(document, item, what)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

function namesOf({ name, operation }: FoundOperation): string[] {
  return [operation.operationId, name, ...tagsOf(operation)].filter((text) => typeof text === 'string')
}

function isChosen(operation: FoundOperation, { include, exclude = [] }: OperationChoice = {}): boolean {
  const words = namesOf(operation)
  const names = (list: readonly string[]) => list.some((word) => words.includes(word))
  return (include === undefined || names(include)) && !names(exclude)
}

function nameOf(method: Method, path: string, operation: JsonRecord): string {
  const name = textOf(operation.operationId) ?? `${method.toLowerCase()}${path.replaceAll(/[{}]/g, '')}`
  return name.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 128)
}
