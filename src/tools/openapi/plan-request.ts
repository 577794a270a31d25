import type { JsonSchema } from '../../domain/tool.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { quote, Refusal } from '../read-json.ts'
import { PAGE } from './answers/pages.ts'
import { checkedServer, pathTemplate, placeholdersOf } from './api-url.ts'
import type { DescribedPages, OpenapiSettings, RequestDescription, RequestParts } from './openapi-settings.ts'
import {
  type Credential,
  isHeaderName,
  isHeaderValue,
  isReservedHeader,
  lowerCased,
  METHODS,
  type Method,
  type PlannedBody,
  type PlannedParameter,
  placeholderOf,
  type RequestPlan,
} from './request-plan.ts'
import { checkTemplate } from './templates/check-template.ts'
import { conversionIn } from './templates/conversion-names.ts'
import { propertiesIn } from './templates/placeholders.ts'

type Server = Pick<OpenapiSettings, 'serverUrl' | 'headers'>

/** Makes the plan of one described request. `pages` is not read: `withPages` adds it. Throws `Refusal`. */
export function planRequest(
  parts: RequestParts,
  credentials: readonly Credential[],
  { serverUrl, headers = {} }: Server,
): RequestPlan {
  const { url, placeholders, query } = readUrl(parts.url, serverUrl)
  const inPath = placeholders.map((name) => inPathParameter(name, parts.path))
  const unused = Object.keys(parts.path ?? {}).find((name) => !placeholders.includes(name))
  if (unused !== undefined)
    throw new Refusal(`request.path has ${quote(unused)}, which request.url does not.`)
  const inQuery = split(parts.query ?? {}, 'query')
  const inHeaders = split(parts.headers ?? {}, 'header')
  const method = methodOf(parts.method)
  if (parts.followRedirects === true && method !== 'GET')
    throw new Refusal(`request.follow_redirects is for GET alone, and request.method is ${method}.`)
  return {
    method,
    url,
    parameters: [...inPath, ...inQuery.parameters, ...inHeaders.parameters],
    headers: {
      ...lowerCased({ accept: 'application/json, text/*;q=0.8, */*;q=0.1', ...headers }),
      ...inHeaders.constants,
    },
    query: { ...query, ...inQuery.constants },
    ...(parts.body !== undefined && { body: bodyOf(parts) }),
    ...(parts.followRedirects === true && { followsRedirects: true }),
    credentials: credentials.length > 0 ? [credentials] : [],
  }
}

function methodOf(text: string): Method {
  const method = METHODS.find((candidate) => candidate === text.toUpperCase())
  if (method === undefined)
    throw new Refusal(`request.method is ${quote(text)}; it is one of ${METHODS.join(', ')}.`)
  return method
}

/** Reads an absolute URL, or a path relative to `server_url`, which also replaces the origin of an absolute URL. */
function readUrl(text: string, serverUrl: string | undefined) {
  const [, origin = '', rest = ''] = /^([a-z]+:\/\/[^/?#]*|\{\{\w+\}\}(?=\/))?(.*)$/is.exec(text) ?? []
  if (origin === '' && serverUrl === undefined)
    throw new Refusal(`request.url is ${quote(text)}; it must be an absolute http or https URL.`)
  if (/[{}]/.test(origin.replaceAll(CONNECTION_VALUE, '')))
    throw new Refusal('request.url has a placeholder in its host, which an input must not choose.')
  if (rest.includes('#')) throw new Refusal('request.url has a fragment, which is not sent.')
  const [path = '', ...search] = rest.split('?')
  const names = standInNames(`${serverUrl ?? origin}${path}`)
  const server = checkedServer(names.hide(serverUrl ?? origin), undefined)
  const template = pathTemplate(names.hide(path))
  const query = Object.fromEntries(new URLSearchParams(search.join('?')))
  if (Object.values(query).some((value) => placeholderOf(value) !== undefined))
    throw new Refusal('request.url has a placeholder in its query: put it into `query`.')
  return { url: names.show(server + template), placeholders: placeholdersOf(template), query }
}

/** A value of the connection in a URL. */
const CONNECTION_VALUE = /\{\{(\w+)\}\}/g

/**
 * Puts names in the place of values of the connection, so that a URL can be checked, and back. A value at the beginning of the
 * URL is its origin.
 */
function standInNames(text: string) {
  const names = [...new Set([...text.matchAll(CONNECTION_VALUE)].map(([, name = '']) => name))]
  const hidden = (index: number) => `gatepass-value-${index}`
  return {
    hide: (part: string) =>
      names.reduce(
        (changed, name, index) =>
          changed
            .replace(new RegExp(`^\\{\\{${name}\\}\\}`), `https://${hidden(index)}.invalid`)
            .replaceAll(`{{${name}}}`, hidden(index)),
        part,
      ),
    show: (part: string) =>
      names.reduce(
        (changed, name, index) =>
          changed
            .replace(`https://${hidden(index)}.invalid`, `{{${name}}}`)
            .replaceAll(hidden(index), `{{${name}}}`),
        part,
      ),
  }
}

/** The URL with `*` in place of values of the connection; `undefined` if such a value is the whole origin. */
export function withoutConnectionValues(url: string): URL | undefined {
  return URL.parse(url.replaceAll(CONNECTION_VALUE, '*')) ?? undefined
}

function inPathParameter(name: string, path: RequestParts['path']): PlannedParameter {
  const common = { in: 'path', name, style: 'simple', explode: false } as const
  const template = path !== undefined && Object.hasOwn(path, name) ? path[name] : undefined
  if (template === undefined) return { property: name, ...common }
  checkTemplate(template, 'path', `request.path.${name}`)
  const isSegments = isRecord(template) && conversionIn(template) === '$segments'
  return {
    property: propertiesIn(template)[0] ?? name,
    ...common,
    template: isSegments ? template.$segments : template,
    ...(isSegments && { isSegments }),
  }
}

/** Separates what depends on the input from constant values. */
function split(described: Readonly<Record<string, unknown>>, place: 'query' | 'header') {
  const parameters: PlannedParameter[] = []
  const constants: Record<string, string> = {}
  for (const [key, value] of Object.entries(described)) {
    const name = place === 'header' ? key.toLowerCase() : key
    if (place === 'header' && (!isHeaderName(name) || isReservedHeader(name)))
      throw new Refusal(`request.headers has ${quote(key)}, which a tool may not set.`)
    const property = typeof value === 'string' ? placeholderOf(value) : undefined
    if (property !== undefined) parameters.push({ property, in: place, name, ...FORMS[place] })
    else if (typeof value !== 'string') parameters.push(converted(value, place, name, key))
    else if (place === 'header' && !isHeaderValue(value))
      throw new Refusal(`request.headers has a value for ${quote(key)} that no header may have.`)
    else constants[name] = value
  }
  return { parameters, constants }
}

const FORMS = {
  query: { style: 'form', explode: true },
  header: { style: 'simple', explode: false },
} as const

function converted(value: unknown, place: 'query' | 'header', name: string, key: string): PlannedParameter {
  const at = `request.${place === 'query' ? 'query' : 'headers'}.${key}`
  checkTemplate(value, place, at)
  if (!isRecord(value) || conversionIn(value) === undefined)
    throw new Refusal(`${at} must be a text or a conversion, such as {"$join": "{ids}"}.`)
  const isNested = conversionIn(value) === '$brackets'
  return {
    property: propertiesIn(value)[0] ?? name,
    in: place,
    name,
    ...(isNested ? { style: 'deepObject', explode: true } : FORMS[place]),
    template: isNested ? value.$brackets : value,
  }
}

const FORM = 'application/x-www-form-urlencoded'
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(?:; ?charset=[\w-]+)?$/i

function bodyOf({ body, contentType = 'application/json' }: RequestParts): PlannedBody {
  if (placeholderOf(contentType) === undefined && !MEDIA_TYPE.test(contentType))
    throw new Refusal(`request.content_type is ${quote(contentType)}, which is no media type.`)
  const isForm = contentType === FORM
  checkTemplate(body, isForm ? 'form' : 'body', 'request.body')
  const encoding = isForm
    ? 'form'
    : /^application\/(?:[\w.-]+\+)?json\b/i.test(contentType)
      ? 'json'
      : contentType === 'multipart/related'
        ? 'parts'
        : 'text'
  if (!isForm || !isRecord(body))
    return { contentType, encoding, template: body, hasConversions: true, isRequired: true }
  const nested = Object.entries(body).filter(
    ([, value]) => isRecord(value) && conversionIn(value) === '$brackets',
  )
  const forms = Object.fromEntries(
    nested.map(([name]) => [name, { style: 'deepObject', explode: true } as const]),
  )
  const plain = Object.fromEntries(
    nested.map(([name, value]) => [name, (value as { $brackets: unknown }).$brackets]),
  )
  return {
    contentType,
    encoding,
    template: { ...body, ...plain },
    hasConversions: true,
    isRequired: true,
    forms,
  }
}

/** Adds what the plan says about pages: the request of the further ones. Throws `Refusal`. */
export function nextPagesOf(
  request: RequestDescription,
  pages: DescribedPages,
  credentials: readonly Credential[],
  server: Server,
): RequestPlan | undefined {
  if (pages.request === undefined) return undefined
  const { body: _, query: __, path: ___, ...rest } = request
  return planRequest({ ...rest, ...pages.request }, credentials, server)
}

/** The input schema with the property `page`, which names a page. Throws `Refusal` if it describes one itself. */
export function withPage(inputSchema: JsonSchema): JsonSchema {
  const properties = isRecord(inputSchema.properties) ? inputSchema.properties : {}
  if (Object.hasOwn(properties, PAGE))
    throw new Refusal('request.input_schema describes "page", which request.pages adds.')
  const page = {
    type: 'string',
    minLength: 1,
    maxLength: 4_000,
    description: 'The next page: the value of `next_page` of the answer before, unchanged',
  }
  return { ...inputSchema, properties: { ...properties, [PAGE]: page } }
}
