import { setImmediate } from 'node:timers/promises'
import type { JsonSchema, ToolAnnotations } from '../../domain/tool.ts'
import { schemaReader } from '../arcade/value-shape.ts'
import type { CatalogueItem, CatalogueTool } from '../backend.ts'
import { isRecord, type JsonRecord, Refusal } from '../metadata/metadata-member.ts'
import { type OpenapiDocument, resolved, textOf } from './openapi-document.ts'
import type { OpenapiSettings, OperationChoice } from './openapi-settings.ts'
import { readBody } from './read-body.ts'
import { isJsonType, readParameters } from './read-parameters.ts'
import { type ReadSecurity, readSecurity } from './read-security.ts'
import { METHODS, type Method, type RequestPlan, toToolDocument } from './request-plan.ts'
import { checkedServer, serverOf } from './server-url.ts'
import { schemaWriter, TooManySchemas } from './tool-schema.ts'
import { pathTemplate, placeholdersOf } from './url-template.ts'

export const MAX_OPERATIONS = 1000
const VERSION = /^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$/

export interface ReadingOptions {
  readonly settings: OpenapiSettings
  readonly namespace: string
  /** Where the document came from: relative servers begin there. */
  readonly documentUrl?: string
}

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
    const name = nameOf(found)
    try {
      if (names.has(name.toLowerCase())) throw new Refusal('Another operation is called so too.')
      names.add(name.toLowerCase())
      items.push({ outcome: 'read', tool: readOperation(document, found, name, options) })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      items.push({ outcome: 'refused', name, reason: error.message })
    }
  }
  return items
}

interface FoundOperation {
  readonly method: Method
  readonly path: string
  readonly pathItem: JsonRecord
  readonly operation: JsonRecord
}

/** All but those that answer nothing a tool could say (HEAD, OPTIONS, TRACE). */
function operationsOf(document: OpenapiDocument): FoundOperation[] {
  const paths = isRecord(document.root.paths) ? Object.entries(document.root.paths) : []
  return paths.flatMap(([path, item]) => {
    if (!path.startsWith('/') || !isRecord(item)) return []
    const pathItem = typeof item.$ref === 'string' ? { ...resolvedOrEmpty(document, item), ...item } : item
    return METHODS.flatMap((method) => {
      const operation = pathItem[method.toLowerCase()]
      return isRecord(operation) ? [{ method, path, pathItem, operation }] : []
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

function isChosen({ operation }: FoundOperation, { include, exclude = [] }: OperationChoice = {}): boolean {
  const words = [operation.operationId, ...tagsOf(operation)]
  const names = (list: readonly string[]) => list.some((one) => words.includes(one))
  return (include === undefined || names(include)) && !names(exclude)
}

function tagsOf({ tags }: JsonRecord): string[] {
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
}

function nameOf({ method, path, operation }: FoundOperation): string {
  const said = textOf(operation.operationId) ?? `${method.toLowerCase()}${path.replaceAll(/[{}]/g, '')}`
  return said.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 128)
}

function readOperation(
  document: OpenapiDocument,
  { method, path, pathItem, operation }: FoundOperation,
  name: string,
  { settings, namespace, documentUrl }: ReadingOptions,
): CatalogueTool {
  const { root } = document
  const writer = schemaWriter(document, 'input')
  const headers = Object.fromEntries(
    Object.entries(settings.headers ?? {}).map(([header, value]) => [header.toLowerCase(), value]),
  )
  const security = readSecurity(document, operation.security ?? root.security, settings.authorization ?? {})
  const parameters = readParameters(
    document,
    { ofPath: pathItem.parameters, ofOperation: operation.parameters },
    writer,
    (place, header) =>
      (place === 'header' && header.toLowerCase() in headers) || isCredential(security, place, header),
  )
  const template = pathTemplate(path)
  const inPath = parameters.filter(({ planned }) => planned.in === 'path').map(({ planned }) => planned.name)
  const undeclared = placeholdersOf(template).find((one) => !inPath.includes(one))
  if (undeclared !== undefined) throw new Refusal(`Its path has {${undeclared}}, which is no parameter.`)
  const properties = parameters.map(({ planned, schema }) => [planned.property, schema] as const)
  const taken = properties.map(([property]) => property)
  const body = readBody(document, operation.requestBody, writer, taken)
  const required = [
    ...parameters.filter((one) => one.isRequired).map(({ planned }) => planned.property),
    ...(body?.required ?? []),
  ]
  const server =
    settings.serverUrl === undefined
      ? serverOf([operation.servers, pathItem.servers, root.servers], documentUrl)
      : checkedServer(settings.serverUrl, undefined)
  const answers = readAnswers(document, operation.responses)
  const plan: RequestPlan = {
    method,
    url: server + template,
    parameters: parameters
      .map(({ planned }) => planned)
      .filter((one) => one.in !== 'path' || placeholdersOf(template).includes(one.name)),
    headers: { accept: answers.accept, ...headers },
    query: {},
    ...(body && { body: body.planned }),
    credentials: security.credentials,
  }
  const version = VERSION.exec(isRecord(root.info) ? String(root.info.version) : '')?.[1]
  const title = textOf(operation.summary)
  return {
    name,
    namespace,
    ...(version !== undefined && { version }),
    ...(title !== undefined && { title }),
    description: describe(operation, `${method} ${path}`),
    inputSchema: {
      type: 'object',
      properties: { ...Object.fromEntries(properties), ...body?.properties },
      ...(required.length > 0 && { required }),
      additionalProperties: false,
      ...writer.definitions(),
    },
    ...(answers.schema && settings.checkOutput !== false && { outputSchema: answers.schema }),
    tags: tagsOf(operation),
    annotations: annotationsOf(method),
    requirements: security.requirements,
    document: toToolDocument(plan),
  }
}

function isCredential({ credentials }: ReadSecurity, place: string, name: string): boolean {
  return credentials.flat().some((one) => {
    if (one.kind === 'token') return place === 'header' && one.header === name.toLowerCase()
    return one.in === place && (place === 'header' ? one.name === name.toLowerCase() : one.name === name)
  })
}

function describe({ summary, description, deprecated }: JsonRecord, fallback: string): string {
  const said = [...new Set([textOf(summary), textOf(description)])].filter((one) => one !== undefined)
  return `${deprecated === true ? 'Deprecated. ' : ''}${said.join('\n\n') || fallback}`
}

/** What HTTP says of the method (RFC 9110 section 9.2). */
export function annotationsOf(method: Method): ToolAnnotations {
  return {
    readOnlyHint: method === 'GET',
    ...(method !== 'GET' && { destructiveHint: method === 'DELETE' }),
    idempotentHint: method === 'GET' || method === 'PUT' || method === 'DELETE',
    openWorldHint: true,
  }
}

/**
 * What is asked for, and what the answer surely looks like: only where the operation answers well in one way, which is a
 * JSON object or list. A tool whose answer is not as it says has failed, so no more is taken.
 */
function readAnswers(
  document: OpenapiDocument,
  responses: unknown,
): { readonly accept: string; readonly schema?: JsonSchema } {
  const good = isRecord(responses) ? Object.entries(responses).filter(([status]) => /^2/.test(status)) : []
  const contents = good.flatMap(([, response]) => {
    const { content } = resolved(document, response, 'A response')
    return [isRecord(content) ? Object.entries(content) : []]
  })
  const types = [...new Set(contents.flat().map(([type]) => type))]
  const json = types.filter(isJsonType)
  const accept = [...(json.length > 0 ? json : ['application/json']), 'text/*;q=0.8', '*/*;q=0.1'].join(', ')
  const [only = []] = contents
  const [media] = only.map(([, one]) => one)
  if (
    contents.length !== 1 ||
    only.length !== 1 ||
    json.length !== 1 ||
    !isRecord(media) ||
    !isRecord(media.schema)
  )
    return { accept }
  const schema = outputOf(document, media.schema)
  if (schema === undefined) return { accept }
  const shape = schemaReader(schema).shapeOf(schema).types
  const isStructured =
    shape !== undefined && [...shape].every((type) => type === 'object' || type === 'array')
  return { accept, ...(isStructured && { schema }) }
}

function outputOf(document: OpenapiDocument, said: unknown): JsonSchema | undefined {
  const writer = schemaWriter(document, 'output')
  try {
    return { ...writer.write(said), ...writer.definitions() }
  } catch (error) {
    if (error instanceof TooManySchemas) return undefined
    throw error
  }
}
