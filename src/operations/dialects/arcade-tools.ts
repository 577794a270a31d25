import { invalidMember } from '../../domain/errors.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { toParameters, toValueSchema, type ValueSchema } from '../../sdk/worker/value-schema.ts'
import type {
  RequiredProvider,
  RequiredSecret,
  RequiredWorker,
  RequirementStatus,
} from '../../tools/catalogue/requirement-context.ts'
import type { ManyRequirements, SharedProvider } from '../../tools/catalogue/requirements-of-many.ts'
import { type BehaviourFilter, type ListFilter, toolMetadata } from '../../tools/catalogue/search-tools.ts'
import { cachedText } from '../../tools/catalogue/text-cache.ts'
import type {
  ManyRequirementsWire,
  RequiredProviderWire,
  RequiredSecretWire,
  RequiredWorkerWire,
  RequirementsWire,
  ToolDefinition,
} from './tool-schemas.ts'

// Tools on the wire as Arcade's API describes them: definitions, requirements and the filter of lists.

/** Without `status` the definition lists the requirements of the tool, but not whether they are met. */
export function toDefinition(tool: Tool, status: RequirementStatus | undefined): ToolDefinition {
  const { namespace, name, version, source } = tool
  const qualified = namespace === '' ? name : `${namespace}.${name}`
  const document = source.kind === 'worker' ? source.document : {}
  const metadata = toolMetadata(tool)
  const toolkitDescription = isRecord(document.toolkit) ? document.toolkit.description : undefined
  return {
    fully_qualified_name: version === undefined ? qualified : `${qualified}@${version}`,
    qualified_name: qualified,
    name,
    tool_id: toolId(tool),
    description: tool.description,
    toolkit: {
      name: namespace,
      version,
      ...(typeof toolkitDescription === 'string' && { description: toolkitDescription }),
    },
    input: { parameters: toParameters(tool.inputSchema) },
    output: toOutput(tool, document),
    requirements: status ? statusToWire(status) : toRequirements(tool),
    ...(metadata && { metadata: { ...metadata } }),
    ...(tool.tags.length > 0 && { tags: [...tool.tags] }),
  }
}

/**
 * `toDefinition` as JSON, with the members of `more` at the end. The parts that do not depend on the user are cached with
 * the version of the tool.
 */
export function definitionJson(tool: Tool, status: RequirementStatus, more = ''): string {
  const before = cachedText(tool, 'definition before requirements', () => {
    const { requirements: _, metadata: __, tags: ___, ...members } = toDefinition(tool, undefined)
    return JSON.stringify(members).slice(0, -1)
  })
  const after = cachedText(tool, 'definition after requirements', () => {
    const { metadata, tags } = toDefinition(tool, undefined)
    const members = JSON.stringify({ ...(metadata && { metadata }), ...(tags && { tags }) }).slice(1, -1)
    return members === '' ? '' : `,${members}`
  })
  return `${before},"requirements":${JSON.stringify(statusToWire(status))}${after}${more}}`
}

const USUAL_MODES = ['value', 'error', 'null', 'requires_authorization']

function toOutput({ outputSchema }: Tool, document: JsonRecord): ToolDefinition['output'] {
  const listed = isRecord(document.output) ? document.output.available_modes : undefined
  const modes = Array.isArray(listed) ? listed.filter((mode) => typeof mode === 'string') : []
  const { description, nullable, ...value_schema }: ValueSchema & { nullable?: boolean } = outputSchema
    ? toValueSchema(outputSchema)
    : { val_type: 'json' }
  // a worker states in its modes that the tool may answer null
  const isInModes = modes.includes('null')
  return {
    available_modes: modes.length > 0 ? modes : USUAL_MODES,
    description,
    ...(outputSchema && { value_schema: { ...value_schema, ...(nullable && !isInModes && { nullable }) } }),
  }
}

/** Arcade has room for one provider: the first, with the scopes of all. */
function toRequirements({ requirements }: Tool): ToolDefinition['requirements'] {
  const [first] = requirements.authorization
  const scopes = [...new Set(requirements.authorization.flatMap((requirement) => requirement.scopes))]
  return {
    ...(first && {
      authorization: {
        id: first.id,
        provider_id: first.providerId,
        provider_type: 'oauth2',
        oauth2: { scopes },
      },
    }),
    secrets: requirements.secrets.map((key) => ({ key })),
  }
}

function statusToWire({ met, authorizations, secrets, worker }: RequirementStatus): RequirementsWire {
  const first = authorizations.find((authorization) => !authorization.met) ?? authorizations[0]
  return {
    met,
    authorization: first && providerToWire(first),
    ...(authorizations.length > 1 && { authorizations: authorizations.map(providerToWire) }),
    secrets: secrets.map(secretToWire),
    worker: worker && workerToWire(worker),
  }
}

function providerToWire(required: RequiredProvider): RequiredProviderWire {
  const { id, wellKnownId, scopes, status, statusReason, tokenStatus } = required
  return {
    id,
    provider_id: wellKnownId,
    provider_type: 'oauth2',
    oauth2: { scopes: [...scopes] },
    status,
    status_reason: statusReason,
    token_status: tokenStatus,
  }
}

function secretToWire({ key, met, statusReason }: RequiredSecret): RequiredSecretWire {
  return { key, met, status_reason: statusReason }
}

function workerToWire({ id, met, status, statusReason }: RequiredWorker): RequiredWorkerWire {
  return { id, met, status, status_reason: statusReason }
}

/** What several tools need together (`POST /v1/tools/requirements`). */
export function manyRequirementsToWire({
  providers,
  secrets,
  workers,
  link,
}: ManyRequirements): ManyRequirementsWire {
  const authorization = group([...providers].map(([id, shared]) => [id, sharedProviderToWire(id, shared)]))
  const secretItems = group(
    [...secrets].map(([key, { toolIds, ...secret }]) => {
      const { key: _, ...item } = secretToWire(secret)
      return [key, { ...item, met: secret.met, tool_names: toolIds }]
    }),
  )
  const workerItems = group(
    [...workers].map(([id, { toolIds, ...worker }]) => {
      const { id: _, ...item } = workerToWire(worker)
      return [id, { ...item, tool_names: toolIds }]
    }),
  )
  return {
    met: authorization.met && secretItems.met && workerItems.met,
    authorization,
    secrets: secretItems,
    workers: workerItems,
    ...(link && { authorization_id: link.authorizationId, url: link.url }),
  }
}

function group<Item extends { readonly met: boolean }>(items: readonly (readonly [string, Item])[]) {
  return { met: items.every(([, { met }]) => met), items: Object.fromEntries(items) }
}

function sharedProviderToWire(id: string, required: SharedProvider) {
  const { met, scopes, status, statusReason, tokenStatus, toolIds, link } = required
  return {
    met,
    provider_id: id,
    provider_type: 'oauth2' as const,
    scopes,
    status,
    status_reason: statusReason,
    token_status: tokenStatus,
    tool_names: toolIds,
    ...(link && { authorization_id: link.authorizationId, url: link.url }),
  }
}

const FILTER_LISTS = { service_domains: 'serviceDomains', operations: 'operations' } as const
const FILTER_FLAGS = {
  read_only: 'readOnly',
  destructive: 'destructive',
  idempotent: 'idempotent',
  open_world: 'openWorld',
} as const
const FILTER_MEMBERS = [...Object.keys(FILTER_LISTS), ...Object.keys(FILTER_FLAGS), 'extras']

/**
 * Reads the `filter` of a list, which is JSON in a query parameter:
 * `{"service_domains": {"any_of": […]}, "operations": {…}, "read_only": true, …, "extras": {…}}`. Throws
 * `invalid_request` for an unknown member, because ignoring it would list tools that the caller does not want.
 */
export function readBehaviourFilter(text: string): BehaviourFilter {
  const filter = parseFilter(text)
  const unknown = Object.keys(filter).filter((name) => !FILTER_MEMBERS.includes(name))
  if (unknown.length > 0)
    throw invalidFilter(`it has ${unknown.join(', ').slice(0, 200)}; it knows ${FILTER_MEMBERS.join(', ')}.`)
  const lists = Object.entries(FILTER_LISTS).flatMap(([name, list]) =>
    filter[name] === undefined ? [] : [[list, readListFilter(name, filter[name])] as const],
  )
  const flags = Object.entries(FILTER_FLAGS).flatMap(([name, flag]) => {
    const value = filter[name]
    if (value === undefined) return []
    if (typeof value !== 'boolean') throw invalidFilter(`${name} must be true or false.`)
    return [[flag, value] as const]
  })
  const { extras } = filter
  if (extras !== undefined && !isRecord(extras)) throw invalidFilter('extras must be an object.')
  return { ...Object.fromEntries(lists), flags: Object.fromEntries(flags), extras: extras ?? {} }
}

const LIST_CONDITIONS = { any_of: 'anyOf', all_of: 'allOf', none_of: 'noneOf' } as const

function readListFilter(name: string, value: unknown): ListFilter {
  if (!isRecord(value)) throw invalidFilter(`${name} must be an object of any_of, all_of, none_of.`)
  if (Object.keys(value).some((key) => !Object.hasOwn(LIST_CONDITIONS, key)))
    throw invalidFilter(`${name} knows any_of, all_of and none_of.`)
  const conditions = Object.entries(LIST_CONDITIONS).flatMap(([member, condition]) => {
    const texts = value[member]
    if (texts === undefined) return []
    if (!Array.isArray(texts) || !texts.every((text) => typeof text === 'string'))
      throw invalidFilter(`${name}.${member} must be a list of texts.`)
    return [[condition, texts.map((text) => text.toLowerCase())] as const]
  })
  return Object.fromEntries(conditions)
}

function parseFilter(text: string): JsonRecord {
  let filter: unknown
  try {
    filter = JSON.parse(text)
  } catch {
    throw invalidMember('filter', 'invalid_json', 'filter: it is not valid JSON.')
  }
  if (isRecord(filter)) return filter
  throw invalidFilter('it must be a JSON object.')
}

function invalidFilter(why: string) {
  return invalidMember('filter', 'invalid', `filter: ${why}`)
}
