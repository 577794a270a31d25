import { setImmediate } from 'node:timers/promises'
import type { CatalogueItem } from '../backend.ts'
import { isRecord, type JsonRecord, Refusal } from '../read-json.ts'
import { type OpenapiDocument, resolved, textOf } from './openapi-document.ts'
import type { OperationChoice } from './openapi-settings.ts'
import { type FoundOperation, type ReadingOptions, readOperation, tagsOf } from './read-operation.ts'
import { METHODS, type Method } from './request-plan.ts'

const MAX_OPERATIONS = 1000

/**
 * The operations as tools, or why one was left out; others get their turn between them. Throws `Refusal` when there are
 * too many.
 */
export async function readOpenapi(
  document: OpenapiDocument,
  options: ReadingOptions,
): Promise<CatalogueItem[]> {
  const chosen = operationsOf(document).filter((one) => isChosen(one, options.settings.operations))
  if (chosen.length > MAX_OPERATIONS)
    throw new Refusal(
      `The document has ${chosen.length} operations; up to ${MAX_OPERATIONS} become tools: choose them in operations.include.`,
    )
  const names = new Set<string>()
  const items: CatalogueItem[] = []
  for (const found of chosen) {
    await setImmediate()
    const { name } = found
    try {
      if (names.has(name.toLowerCase())) throw new Refusal('Another operation is called so too.')
      names.add(name.toLowerCase())
      items.push({ outcome: 'read', tool: readOperation(document, found, options) })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      items.push({ outcome: 'refused', name, reason: error.message })
    }
  }
  return items
}

/** All but those that answer nothing a tool could say (HEAD, OPTIONS, TRACE). */
function operationsOf(document: OpenapiDocument): FoundOperation[] {
  const paths = isRecord(document.root.paths) ? Object.entries(document.root.paths) : []
  return paths.flatMap(([path, item]) => {
    if (!path.startsWith('/') || !isRecord(item)) return []
    const pathItem = typeof item.$ref === 'string' ? { ...resolvedOrEmpty(document, item), ...item } : item
    return METHODS.flatMap((method) => {
      const operation = pathItem[method.toLowerCase()]
      return isRecord(operation)
        ? [{ name: nameOf(method, path, operation), method, path, pathItem, operation }]
        : []
    })
  })
}

function resolvedOrEmpty(document: OpenapiDocument, item: JsonRecord): JsonRecord {
  try {
    return resolved(document, item, 'A path')
  } catch (error) {
    if (error instanceof Refusal) return {}
    throw error
  }
}

function isChosen(
  { name, operation }: FoundOperation,
  { include, exclude = [] }: OperationChoice = {},
): boolean {
  const words = [operation.operationId, name, ...tagsOf(operation)]
  const names = (list: readonly string[]) => list.some((one) => words.includes(one))
  return (include === undefined || names(include)) && !names(exclude)
}

function nameOf(method: Method, path: string, operation: JsonRecord): string {
  const said = textOf(operation.operationId) ?? `${method.toLowerCase()}${path.replaceAll(/[{}]/g, '')}`
  return said.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 128)
}
