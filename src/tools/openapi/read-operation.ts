import type { JsonSchema, ToolAnnotations } from '../../domain/tool.ts'
import { plainVersion } from '../../domain/version.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import type { CatalogueTool } from '../backend.ts'
import { asText, Refusal } from '../read-json.ts'
import { checkedServer, pathTemplate, placeholdersOf, serverOf } from './api-url.ts'
import { type OpenapiDocument, textOf } from './openapi-document.ts'
import type { OpenapiSettings } from './openapi-settings.ts'
import { type ReadBody, readBody } from './read-body.ts'
import { type ReadParameter, readParameters } from './read-parameters.ts'
import { type ReadSecurity, readConfiguredSecurity, readSecurity } from './read-security.ts'
import { readSuccessResponse } from './read-success-response.ts'
import { lowerCased, type Method, type RequestPlan, toToolDocument } from './request-plan.ts'
import { schemaWriter } from './tool-schema.ts'

export interface ReadingOptions {
  readonly settings: OpenapiSettings
  readonly namespace: string
  /** The document's URL, against which relative servers are resolved. */
  readonly documentUrl?: string
}

export interface FoundOperation {
  readonly name: string
  readonly method: Method
  readonly path: string
  readonly pathItem: JsonRecord
  readonly operation: JsonRecord
  /** Why the operation cannot be read. */
  readonly refusal?: Refusal
  /** The document declares no security, so the settings' authorization applies to all its requests. */
  readonly requiresNothing?: boolean
}

/** Reads an operation as a tool. Throws `Refusal` when it cannot be one. */
export function readOperation(
  document: OpenapiDocument,
  found: FoundOperation,
  { settings, namespace, documentUrl }: ReadingOptions,
): CatalogueTool {
  const { root } = document
  const { name, method, path, pathItem, operation } = found
  const { authorization = {} } = settings
  const security =
    found.requiresNothing === true && Object.keys(authorization).length > 0
      ? readConfiguredSecurity(document, authorization)
      : readSecurity(document, operation.security ?? root.security, authorization)
  const { parameters, body, inputSchema } = readInput(document, found, security, settings)
  const answers = readSuccessResponse(document, operation.responses)
  const server =
    settings.serverUrl === undefined
      ? serverOf([operation.servers, pathItem.servers, root.servers], documentUrl)
      : checkedServer(settings.serverUrl, undefined)
  const plan: RequestPlan = {
    method,
    url: server + pathTemplate(path),
    parameters: parameters.map(({ planned }) => planned),
    headers: { accept: answers.accept, ...lowerCased(settings.headers ?? {}) },
    query: {},
    ...(body && { body: body.planned }),
    credentials: security.credentials,
  }
  const version = plainVersion(isRecord(root.info) ? asText(root.info.version) : '')
  const title = textOf(operation.summary)
  return {
    name,
    namespace,
    version,
    title,
    description: describe(operation, `${method} ${path}`),
    inputSchema,
    ...(answers.schema && settings.checkOutput !== false && { outputSchema: answers.schema }),
    tags: tagsOf(operation),
    annotations: annotationsOf(method),
    requirements: security.requirements,
    document: toToolDocument(plan),
  }
}

/** The parameters and the body in one object schema without additional properties. */
function readInput(
  document: OpenapiDocument,
  { path, pathItem, operation }: FoundOperation,
  security: ReadSecurity,
  settings: OpenapiSettings,
): { parameters: readonly ReadParameter[]; body: ReadBody | undefined; inputSchema: JsonSchema } {
  const writer = schemaWriter(document, 'input')
  const fixed = lowerCased(settings.headers ?? {})
  const isTaken = (place: string, name: string) =>
    (place === 'header' && Object.hasOwn(fixed, name.toLowerCase())) || isCredential(security, place, name)
  const lists = { ofPath: pathItem.parameters, ofOperation: operation.parameters }
  const inPath = placeholdersOf(pathTemplate(path))
  const parameters = readParameters(document, lists, writer, isTaken).filter(
    ({ planned }) => planned.in !== 'path' || inPath.includes(planned.name),
  )
  const undeclared = inPath.find(
    (name) => !parameters.some(({ planned }) => planned.in === 'path' && planned.name === name),
  )
  if (undeclared !== undefined)
    throw new Refusal(`Its path has {${undeclared}}, which is not declared as a parameter.`)
  const properties = parameters.map(({ planned, schema }) => [planned.property, schema] as const)
  const taken = properties.map(([property]) => property)
  const body = readBody(document, operation.requestBody, writer, taken)
  const required = [
    ...parameters.filter((parameter) => parameter.isRequired).map(({ planned }) => planned.property),
    ...(body?.required ?? []),
  ]
  return {
    parameters,
    body,
    inputSchema: {
      type: 'object',
      properties: { ...Object.fromEntries(properties), ...body?.properties },
      ...(required.length > 0 && { required }),
      additionalProperties: false,
      ...writer.definitions(),
    },
  }
}

function isCredential({ credentials }: ReadSecurity, place: string, name: string): boolean {
  return credentials.flat().some((credential) => {
    if (credential.kind === 'token') return place === 'header' && credential.header === name.toLowerCase()
    return (
      credential.in === place &&
      (place === 'header' ? credential.name === name.toLowerCase() : credential.name === name)
    )
  })
}

export function tagsOf({ tags }: JsonRecord): string[] {
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
}

function describe({ summary, description, deprecated }: JsonRecord, fallback: string): string {
  const texts = [...new Set([textOf(summary), textOf(description)])].filter((text) => text !== undefined)
  return `${deprecated === true ? 'Deprecated. ' : ''}${texts.join('\n\n') || fallback}`
}

/**
 * The hints that follow from the HTTP method (RFC 9110 section 9.2). No method says that a request destroys nothing, so that
 * is left out: MCP's default is that it may.
 */
export function annotationsOf(method: Method): ToolAnnotations {
  return {
    readOnlyHint: method === 'GET',
    ...(method === 'DELETE' && { destructiveHint: true }),
    idempotentHint: method === 'GET' || method === 'PUT' || method === 'DELETE',
    openWorldHint: true,
  }
}
