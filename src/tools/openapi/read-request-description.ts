import { isToolName } from '../../domain/tool-id.ts'
import { isRecord } from '../../parsing/json-record.ts'
import type { CatalogueTool } from '../backend.ts'
import { quote, Refusal } from '../read-json.ts'
import { checkedServer, pathTemplate, placeholdersOf } from './api-url.ts'
import type { OpenapiSettings, RequestAuthorization, RequestDescription } from './openapi-settings.ts'
import { annotationsOf } from './read-operation.ts'
import {
  type Credential,
  isCredentialHeader,
  isHeaderName,
  isHeaderValue,
  isReservedHeader,
  lowerCased,
  METHODS,
  type PlannedParameter,
  placeholderOf,
  type RequestPlan,
  toToolDocument,
} from './request-plan.ts'

/** Reads the description of one request as a tool. Throws `Refusal`. */
export function readRequestDescription(
  request: RequestDescription,
  { namespace = '', serverUrl, headers = {} }: Pick<OpenapiSettings, 'namespace' | 'serverUrl' | 'headers'>,
): CatalogueTool {
  const { name, version, title, description, inputSchema, outputSchema, tags } = request
  if (!isToolName(name))
    throw new Refusal(`request.name is ${quote(name)}; it must be 1 to 128 of A-Z, a-z, 0-9 and _.-`)
  const method = METHODS.find((candidate) => candidate === request.method.toUpperCase())
  if (method === undefined)
    throw new Refusal(`request.method is ${quote(request.method)}; it is one of ${METHODS.join(', ')}.`)
  if (inputSchema.type !== 'object') throw new Refusal('request.input_schema must describe an object.')
  const { url, parameters: inPath, query } = readUrl(request.url, serverUrl)
  const inQuery = split(request.query ?? {}, 'query')
  const inHeaders = split(request.headers ?? {}, 'header')
  const credentials = (request.authorization ?? []).map(toCredential)
  const plan: RequestPlan = {
    method,
    url,
    parameters: [...inPath, ...inQuery.parameters, ...inHeaders.parameters],
    headers: {
      ...lowerCased({ accept: 'application/json, text/*;q=0.8, */*;q=0.1', ...headers }),
      ...inHeaders.constants,
    },
    query: { ...query, ...inQuery.constants },
    ...(request.body !== undefined && {
      body: {
        contentType: request.contentType ?? 'application/json',
        encoding: request.contentType === 'application/x-www-form-urlencoded' ? 'form' : 'json',
        template: request.body,
        isRequired: true,
      },
    }),
    credentials: credentials.length > 0 ? [credentials] : [],
  }
  checkPlaceholders(plan, inputSchema)
  return {
    name,
    namespace,
    version,
    title,
    description,
    inputSchema,
    outputSchema,
    ...(tags && { tags }),
    annotations: { ...annotationsOf(method), ...request.annotations },
    requirements: {
      authorization: (request.authorization ?? []).flatMap((authorization) => {
        if ('secret' in authorization) return []
        const { id, providerId, scopes } = authorization
        return [{ ...(id !== undefined && { id }), ...(providerId !== undefined && { providerId }), scopes }]
      }),
      secrets: [
        ...new Set(
          credentials.flatMap((credential) => (credential.kind === 'secret' ? [credential.key] : [])),
        ),
      ],
      metadata: [],
    },
    document: toToolDocument(plan),
  }
}

/** Reads an absolute URL, or a path relative to `server_url`, which also replaces the origin of an absolute URL. */
function readUrl(text: string, serverUrl: string | undefined) {
  const [, origin = '', rest = ''] = /^([a-z]+:\/\/[^/?#]*)?(.*)$/is.exec(text) ?? []
  if (origin === '' && serverUrl === undefined)
    throw new Refusal(`request.url is ${quote(text)}; it must be an absolute http or https URL.`)
  if (/[{}]/.test(origin))
    throw new Refusal('request.url has a placeholder in its host, which an input must not choose.')
  if (rest.includes('#')) throw new Refusal('request.url has a fragment, which is not sent.')
  const [path = '', ...search] = rest.split('?')
  const server = checkedServer(serverUrl ?? origin, undefined)
  const template = pathTemplate(path)
  const parameters = placeholdersOf(template).map(
    (name): PlannedParameter => ({ property: name, in: 'path', name, style: 'simple', explode: false }),
  )
  const query = Object.fromEntries(new URLSearchParams(search.join('?')))
  if (Object.values(query).some((value) => placeholderOf(value) !== undefined))
    throw new Refusal('request.url has a placeholder in its query: put it into `query`.')
  return { url: server + template, parameters, query }
}

/** Separates placeholders from constant values. */
function split(described: Readonly<Record<string, string>>, place: 'query' | 'header') {
  const parameters: PlannedParameter[] = []
  const constants: Record<string, string> = {}
  for (const [key, value] of Object.entries(described)) {
    const name = place === 'header' ? key.toLowerCase() : key
    if (place === 'header' && (!isHeaderName(name) || isReservedHeader(name)))
      throw new Refusal(`request.headers has ${quote(key)}, which a tool may not set.`)
    const property = placeholderOf(value)
    const style = place === 'header' ? 'simple' : 'form'
    if (property !== undefined)
      parameters.push({ property, in: place, name, style, explode: place === 'query' })
    else if (place === 'header' && !isHeaderValue(value))
      throw new Refusal(`request.headers has a value for ${quote(key)} that no header may have.`)
    else constants[name] = value
  }
  return { parameters, constants }
}

function toCredential(authorization: RequestAuthorization): Credential {
  if ('secret' in authorization) {
    const name = authorization.in === 'header' ? authorization.name.toLowerCase() : authorization.name
    if (authorization.in === 'header' && !isCredentialHeader(name))
      throw new Refusal(`The header ${quote(authorization.name)} cannot carry a credential.`)
    return { kind: 'secret', key: authorization.secret, in: authorization.in, name, scheme: 'plain' }
  }
  const { id, providerId, header = 'authorization' } = authorization
  if (!isCredentialHeader(header)) throw new Refusal(`The header ${quote(header)} cannot carry a credential.`)
  const requirement = { ...(id !== undefined && { id }), ...(providerId !== undefined && { providerId }) }
  return { kind: 'token', requirement, header: header.toLowerCase() }
}

/** Refuses placeholders that the input schema does not describe: a misspelt one would never be filled. */
function checkPlaceholders(
  { parameters, body }: RequestPlan,
  { properties }: CatalogueTool['inputSchema'],
): void {
  const known = isRecord(properties) ? Object.keys(properties) : []
  const used = [...parameters.map((parameter) => parameter.property), ...propertiesIn(body?.template)]
  const unknown = used.find((property) => !known.includes(property))
  if (unknown !== undefined)
    throw new Refusal(`request has {${unknown}}, which request.input_schema does not describe.`)
}

function propertiesIn(template: unknown): string[] {
  if (typeof template === 'string') return [placeholderOf(template) ?? []].flat()
  return typeof template === 'object' && template !== null
    ? Object.values(template).flatMap(propertiesIn)
    : []
}
