import { isRecord } from '../../parsing/json-record.ts'
import { fillTemplate as fillConnectionValues } from '../../providers/template.ts'
import {
  isHeaderValue,
  type PlannedBody,
  type PlannedParameter,
  placeholderOf,
  type RequestPlan,
} from './request-plan.ts'
import { type Filling, fillTemplate } from './templates/fill-template.ts'
import { isMediaType } from './templates/media-type.ts'
import { toMultipart } from './templates/multipart.ts'
import { createWork } from './templates/work.ts'
import { BadArgument, encode, isLongerThan, MissingValue, toPairs, toSimple } from './write-parameter.ts'

/** One request, without credentials. */
export interface BuiltRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

type Input = Readonly<Record<string, unknown>>

export interface RequestValues {
  /** The values of the connection, for `{{name}}` in the URL. */
  readonly ofConnection?: Readonly<Record<string, string>>
  /** A UUID, the same for repetitions of one call. */
  readonly callId?: string
}

/** A parameter and its value in the request. */
interface Given {
  readonly parameter: PlannedParameter
  /** `null` and `undefined`: it is not sent. */
  readonly value: unknown
}

/**
 * Builds the request from a tool's input. An input value cannot change the host, the structure of the path or another
 * parameter. Throws `BadArgument` and `MissingValue`.
 */
export async function buildRequest(
  plan: RequestPlan,
  sent: Input,
  { ofConnection = {}, callId = '' }: RequestValues = {},
): Promise<BuiltRequest> {
  const input = plan.defaults === undefined ? sent : { ...plan.defaults, ...sent }
  const filling: Filling = { input, callId, work: createWork() }
  const parameters = await Promise.all(plan.parameters.map((parameter) => givenFor(parameter, filling)))
  const url = withPath(withValues(plan.url, ofConnection), parameters)
  url.search = queryOf(plan, parameters)
  const headers: Record<string, string> = { ...plan.headers }
  for (const { parameter, value } of parameters) {
    if (parameter.in !== 'header' || value == null) continue
    const text = toSimple(parameter.name, value, parameter, (part) => part)
    if (!isHeaderValue(text))
      throw new BadArgument(`"${parameter.property}" contains characters that a header must not contain.`)
    headers[parameter.name.toLowerCase()] = text
  }
  const body = plan.body && (await bodyOf(plan.body, filling))
  if (body === undefined) return { url, headers }
  return { url, headers: { ...headers, 'content-type': body.contentType }, body: body.content }
}

function withValues(url: string, ofConnection: Readonly<Record<string, string>>): string {
  const wrong = Object.keys(ofConnection).find((name) => /[{}?#\\\s]/.test(ofConnection[name] ?? ''))
  if (wrong !== undefined && url.includes(`{{${wrong}}}`))
    throw new MissingValue(
      `The value "${wrong}" of the connection has a character that changes the rest of a URL.`,
    )
  const filled = fillConnectionValues(url, ofConnection)
  const [, missing] = /\{\{(\w+)\}\}/.exec(filled) ?? []
  if (missing === undefined) return filled
  throw new MissingValue(
    `The URL of the tool needs "${missing}" of the connection, which has no such value. An administrator sets it for all users as a variable of the provider: PATCH /v1/admin/auth_providers/{id} {"oauth2": {"variables": {"${missing}": {"label": "…", "pattern": "…", "value": "…"}}}}.`,
  )
}

async function givenFor(parameter: PlannedParameter, filling: Filling): Promise<Given> {
  const { property, template } = parameter
  const value =
    template === undefined ? inputAt(filling.input, property) : await fillTemplate(template, filling)
  if (isLongerThan(value, MOST_OF_PARAMETER))
    throw new BadArgument(
      `"${property}" has more than ${MOST_OF_PARAMETER} characters: a ${parameter.in} is shorter.`,
    )
  return { parameter, value }
}

/** In characters, before they are encoded. Servers refuse longer heads of requests. */
const MOST_OF_PARAMETER = 16_000
/** In characters. Larger forms would hold the event loop while they are encoded. */
const MOST_OF_FORM = 1_000_000

function inputAt(input: Input, property: string): unknown {
  return Object.hasOwn(input, property) ? input[property] : undefined
}

function withPath(url: string, parameters: readonly Given[]): URL {
  const filled = url.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const found = parameters.find(({ parameter }) => parameter.in === 'path' && parameter.name === name)
    return pathPart(found?.parameter.property ?? name, found)
  })
  if (!URL.canParse(filled)) throw new BadArgument('The input does not form a valid URL of the API.')
  const built = new URL(filled)
  // if a value made the URL parser normalize the path or change the host, the result differs
  if (built.href !== filled) throw new BadArgument('The input does not form a valid path of the API.')
  return built
}

function pathPart(property: string, given: Given | undefined): string {
  if (given?.value === undefined || given.value === null)
    throw new BadArgument(`"${property}" is missing: it is a part of the path.`)
  const { parameter, value } = given
  const part = toSimple(property, value, parameter, (text) => {
    if (leavesPath(text)) throw new BadArgument(`"${property}" would lead to another path.`)
    if (parameter.isSegments !== true) return encode(text)
    const segments = text.split('/')
    if (segments.includes(''))
      throw new BadArgument(`"${property}" has an empty part: it must neither begin nor end with a slash.`)
    return segments.map(encode).join('/')
  })
  if (part === '') throw new BadArgument(`"${property}" is empty: it is a part of the path.`)
  return part
}

/**
 * Whether the text has a control character or a segment `.` or `..`, also for a server that decodes once too often.
 */
function leavesPath(text: string): boolean {
  let decoded = text
  for (let i = 0; i < 3; i++) {
    if (/\p{Cc}/u.test(decoded) || decoded.split(/[/\\]/).some((part) => part === '.' || part === '..'))
      return true
    // one at a time: a server may decode what is well-formed, and leave the rest
    decoded = decoded.replaceAll(/%([0-7][\da-f])/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
  }
  return false
}

function queryOf(plan: RequestPlan, parameters: readonly Given[]): string {
  const inQuery = parameters.filter(({ parameter }) => parameter.in === 'query')
  const reserved = new Set(
    [
      ...Object.keys(plan.query),
      ...plan.credentials
        .flat()
        .flatMap((credential) =>
          credential.kind === 'secret' && credential.in === 'query' ? [credential.name] : [],
        ),
    ].map(encode),
  )
  const pairs = inQuery.flatMap(({ parameter, value }) => {
    if (value == null) return []
    const others = new Set(
      inQuery.filter((other) => other.parameter !== parameter).map((other) => encode(other.parameter.name)),
    )
    const written = toPairs(parameter.name, value, parameter)
    const conflict = written.find(([name]) => reserved.has(name) || others.has(name))
    if (conflict !== undefined)
      throw new BadArgument(`"${parameter.property}" would set another parameter of the query.`)
    return written
  })
  const constants = Object.entries(plan.query).map(([name, value]) => [encode(name), encode(value)])
  return [...constants, ...pairs].map(([name, value]) => `${name}=${value}`).join('&')
}

interface FilledBody {
  readonly contentType: string
  readonly content: string
}

async function bodyOf(body: PlannedBody, filling: Filling): Promise<FilledBody | undefined> {
  const { encoding, template, isRequired } = body
  const filled = await fillTemplate(template, { ...filling, isPlain: body.hasConversions !== true })
  const isEmpty = filled === undefined || (isRecord(filled) && Object.keys(filled).length === 0)
  if (isEmpty && !isRequired) return undefined
  if (encoding === 'parts') return toMultipart(filled)
  return {
    contentType: contentTypeOf(body, filling),
    content:
      encoding === 'json'
        ? JSON.stringify(filled ?? null)
        : encoding === 'form'
          ? formOf(body, filled)
          : textOf(filled),
  }
}

function contentTypeOf({ contentType }: PlannedBody, { input }: Filling): string {
  const property = placeholderOf(contentType)
  if (property === undefined) return contentType
  const value = inputAt(input, property)
  if (isMediaType(value)) return value
  throw new BadArgument(`"${property}" must be a media type, such as text/plain.`)
}

function textOf(filled: unknown): string {
  if (typeof filled === 'string') return filled
  throw new BadArgument('The content of the request must be text.')
}

function formOf({ forms = {} }: PlannedBody, filled: unknown): string {
  if (!isRecord(filled)) throw new BadArgument('The body of a form must be an object.')
  if (isLongerThan(filled, MOST_OF_FORM))
    throw new BadArgument(`The form has more than ${MOST_OF_FORM} characters.`)
  return Object.entries(filled)
    .flatMap(([name, value]) => {
      const form = Object.hasOwn(forms, name) ? forms[name] : undefined
      return toPairs(
        name,
        value,
        form ?? (isRecord(value) ? { style: 'json', explode: false } : { style: 'form', explode: true }),
      )
    })
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}
