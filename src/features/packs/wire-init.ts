import { didYouMean } from '../../domain/nearest.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { isCoveredHost } from '../../providers/api-host.ts'
import { consentedServiceAt } from '../../providers/catalogue/consented-service.ts'
import { builtIn } from '../../providers/catalogue/registry.ts'
import { catalogueEntries } from '../../providers/catalogue/search.ts'
import { type OpenapiDocument, readDocument, textOf } from '../../tools/openapi/openapi-document.ts'
import { parseDocument } from '../../tools/openapi/parse-document.ts'
import { readOpenapi } from '../../tools/openapi/read-openapi.ts'
import { annotationsOf } from '../../tools/openapi/read-operation.ts'
import { securitySchemesOf } from '../../tools/openapi/read-security.ts'
import {
  isReservedHeader,
  type PlannedParameter,
  planOf,
  type RequestPlan,
} from '../../tools/openapi/request-plan.ts'
import { Refusal } from '../../tools/read-json.ts'
import { unwritten } from './wire-check.ts'
import { openapiOfDiscovery } from './wire-discovery.ts'

export interface InitOptions {
  /** The name of the folder. */
  readonly id: string
  /** Only these operations, by operationId or tag. */
  readonly operations?: readonly string[] | undefined
  readonly provider?: string | undefined
  /** The file's name, for `sources`. */
  readonly source: string
  /** The day, as `YYYY-MM-DD`. */
  readonly today: string
}

export interface NewPack {
  readonly head: JsonRecord
  /** The file of each tool. */
  readonly tools: readonly JsonRecord[]
  /** Operations that cannot be tools of a pack, and why. */
  readonly leftOut: readonly string[]
  /** `undefined`: it was given, or is in the catalogue. */
  readonly providerHint?: string
}

const MAX_TOOLS = 200

/**
 * Makes the files of a pack from an OpenAPI 3 document or a Google discovery document. Sentences of the document are left
 * out, since they are their author's: those of the tools and their inputs are the pack author's to write. Throws `Refusal`.
 */
export async function initPack(text: string, options: InitOptions): Promise<NewPack> {
  const document = await openapiOf(text)
  const base = baseUrlOf(document)
  const provider = options.provider ?? providerOf(base)
  if (provider === undefined)
    throw new Refusal(`The catalogue has no provider of the host of ${base}: name one by --provider.`)
  const { items, choice } = await chosenTools(document, options, provider)
  const leftOut: string[] = []
  const tools = new Map<string, JsonRecord>()
  for (const item of items) {
    if (item.outcome === 'refused') leftOut.push(`${item.name}: ${item.reason}`)
    if (item.outcome !== 'read') continue
    const { name: operation, inputSchema, document: stored } = item.tool
    try {
      const name = toolName(operation, tools)
      tools.set(
        name,
        toolFile(name, planOf(stored), inputSchema, { base, scopes: choice.get(operation) ?? [] }),
      )
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      leftOut.push(`${operation}: ${error.message}`)
    }
  }
  if (tools.size > MAX_TOOLS)
    throw new Refusal(
      `${tools.size} operations are chosen; a pack has at most ${MAX_TOOLS} tools: choose by --operations.`,
    )
  const name =
    textOf(isRecord(document.root.info) ? document.root.info.title : undefined)?.slice(0, 100) ?? options.id
  const head = {
    id: options.id,
    name,
    namespace: pascalCase(options.id),
    version: '0.1.0',
    summary: `Tools of ${name}.`.slice(0, 300),
    provider,
    base_url: base,
    sources: [options.source],
    checked: options.today,
  }
  return {
    head,
    tools: [...tools.values()],
    leftOut,
    ...(builtIn(provider) === undefined && {
      providerHint: `The provider "${provider}" is not in the catalogue: define it, or see \`gatepass providers list --catalogue\`.`,
    }),
  }
}

/** The id of the provider whose users consent, and whose tokens may be sent to the host; else one with that site. */
function providerOf(base: string): string | undefined {
  const { host } = new URL(base)
  const ways = catalogueEntries().filter(
    ({ type, isUserless, secondWayOf }) => type === 'oauth2' && !isUserless && secondWayOf === undefined,
  )
  const [first] = ways
    .filter(({ id }) => builtIn(id)?.provider.api?.hosts.some((pattern) => isCoveredHost(pattern, host)))
    .sort((a, b) => a.id.length - b.id.length)
  return first?.id ?? consentedServiceAt([base])?.id
}

async function openapiOf(text: string): Promise<OpenapiDocument> {
  const discovery = openapiOfDiscovery(text)
  return discovery === undefined ? parseDocument(text) : readDocument(discovery)
}

function baseUrlOf({ root }: OpenapiDocument): string {
  const [first] = Array.isArray(root.servers) ? root.servers : []
  const url = isRecord(first) ? textOf(first.url) : undefined
  if (url === undefined || !/^https?:\/\/[^/?#{}]+(?:\/[^?#{}]*)?$/.test(url))
    throw new Refusal(
      'The document names no server with an absolute URL without variables: add one to `servers`.',
    )
  return url.replace(/\/$/, '')
}

/** The operations that are chosen, each read as a tool, and the sets of scopes of each. */
async function chosenTools(document: OpenapiDocument, { operations }: InitOptions, provider: string) {
  const choice = scopesOf(document)
  const wrong = operations?.find((name) => !choice.names.has(name))
  if (wrong !== undefined)
    throw new Refusal(`The document has no operation or tag "${wrong}".${didYouMean(wrong, choice.names)}`)
  const authorization = Object.fromEntries(
    Object.keys(securitySchemesOf(document)).map((name) => [name, { providerId: provider }]),
  )
  const settings = { authorization, ...(operations && { operations: { include: operations } }) }
  const items = await readOpenapi(document, { settings, namespace: '' })
  return { items, choice: choice.byName }
}

/** The sets of scopes of each operation, by its name as `readOpenapi` has it; and all names by which operations are chosen. */
function scopesOf({ root }: OpenapiDocument) {
  const byName = new Map<string, string[][]>()
  const names = new Set<string>()
  for (const [path, item] of Object.entries(isRecord(root.paths) ? root.paths : {}))
    for (const [method, operation] of Object.entries(isRecord(item) ? item : {})) {
      if (!isRecord(operation)) continue
      const id = textOf(operation.operationId) ?? `${method}${path.replaceAll(/[{}]/g, '')}`
      const name = id.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 128)
      for (const one of [id, name, ...(Array.isArray(operation.tags) ? operation.tags : [])])
        names.add(String(one))
      const security = operation.security ?? root.security
      const sets = (Array.isArray(security) ? security : []).filter(isRecord).map((one) =>
        Object.values(one)
          .flatMap((scopes) => (Array.isArray(scopes) ? scopes : []))
          .filter((scope) => typeof scope === 'string'),
      )
      byName.set(
        name,
        sets.filter((set) => set.length > 0),
      )
    }
  return { byName, names }
}

function toolFile(
  name: string,
  plan: RequestPlan,
  inputSchema: JsonRecord,
  { base, scopes: sets }: { readonly base: string; readonly scopes: readonly (readonly string[])[] },
): JsonRecord {
  const { method, body } = plan
  const url = plan.url.startsWith(`${base}/`) ? plan.url.slice(base.length) : plan.url
  const inPath = plan.parameters.filter((parameter) => parameter.in === 'path')
  const renamed = inPath.filter(({ property, name: inUrl }) => property !== inUrl)
  const given = (place: PlannedParameter['in']) =>
    Object.fromEntries(
      plan.parameters
        .filter((parameter) => parameter.in === place)
        .map((parameter) => [parameter.name, templateOf(parameter)]),
    )
  const headers = given('header')
  const reserved = Object.keys(headers).find(isReservedHeader)
  if (reserved !== undefined) throw new Refusal(`It needs the header ${reserved}, which Gatepass sets.`)
  const [query, annotations] = [given('query'), annotationsOf(method)]
  // the least is a guess: of sets that each suffice, the one for reading, else the one with the fewest and longest names
  const [least = [], ...alternatives] = [...sets].sort((a, b) => breadth(a, method) - breadth(b, method))
  const isDestructive = annotations.destructiveHint === true
  return {
    name,
    description: unwritten(method, url),
    method,
    url,
    ...(renamed.length > 0 && {
      path: Object.fromEntries(renamed.map((parameter) => [parameter.name, templateOf(parameter)])),
    }),
    ...(Object.keys(query).length > 0 && { query }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body && bodyOf(body)),
    input_schema: withoutSentences(inputSchema),
    annotations: { ...annotations, destructiveHint: isDestructive },
    scopes: least,
    ...(alternatives.length > 0 && { alternatives: alternatives.slice(0, 10) }),
    ...(isDestructive && { approval: 'ask' }),
  }
}

function breadth(scopes: readonly string[], method: string): number {
  const reads = scopes.every((scope) => /read/i.test(scope))
  return scopes.length * 1000 - (method === 'GET' && reads ? 500 : 0) - scopes.join('').length
}

/** The value of a parameter as a template. Throws `Refusal` for a form that a pack cannot say. */
function templateOf({
  property,
  style,
  explode,
  in: place,
  template,
  isSegments,
}: PlannedParameter): unknown {
  const value = template ?? `{${property}}`
  if (isSegments) return { $segments: value }
  if (style === 'json') return { $json: value }
  if (place === 'query' && style === 'form' && !explode) return { $join: value }
  if (style === 'spaceDelimited') return { $join: value, with: ' ' }
  if (style === 'pipeDelimited') return { $join: value, with: '|' }
  if (style === 'deepObject') return { $brackets: value }
  return value
}

function bodyOf({ contentType, encoding, template }: NonNullable<RequestPlan['body']>): JsonRecord {
  if (encoding === 'parts') throw new Refusal('Its body has several parts.')
  return { body: template, ...(contentType !== 'application/json' && { content_type: contentType }) }
}

/** The schema without `description`, `title` and examples: they are sentences of the document's author. */
function withoutSentences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutSentences)
  if (!isRecord(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).flatMap(([member, value]) => {
      if (['description', 'title'].includes(member) && typeof value === 'string') return []
      if (['example', 'examples', '$comment', 'externalDocs'].includes(member)) return []
      if (['enum', 'const', 'default', 'required'].includes(member)) return [[member, value]]
      // names of properties are not keywords
      if (['properties', '$defs', 'patternProperties'].includes(member) && isRecord(value))
        return [
          [
            member,
            Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutSentences(one)])),
          ],
        ]
      return [[member, withoutSentences(value)]]
    }),
  )
}

/** `VerbNoun` of an operation: `users.messages.list` becomes `ListUsersMessages`. */
function toolName(operation: string, taken: ReadonlyMap<string, unknown>): string {
  const words = operation.split('.')
  const ordered = words.length > 1 ? [words.at(-1) ?? '', ...words.slice(0, -1)] : words
  const name = pascalCase(ordered.join(' ')).slice(0, 40) || 'Tool'
  for (let count = 1; ; count++) {
    const free = count === 1 ? name : `${name}${count}`
    if (!taken.has(free)) return free
  }
}

function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter(Boolean)
  return words
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
    .slice(0, 40)
}
