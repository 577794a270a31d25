import { isRecord } from '../../parsing/json-record.ts'
import {
  isHeaderValue,
  type PlannedBody,
  type PlannedParameter,
  placeholderOf,
  type RequestPlan,
} from './request-plan.ts'
import { BadArgument, encode, toPairs, toSimple } from './write-parameter.ts'

/** One request, without credentials. */
export interface BuiltRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

type Input = Readonly<Record<string, unknown>>

/**
 * Builds the request from a tool's input. An input value cannot change the host, the structure of the path or another
 * parameter. Throws `BadArgument`.
 */
export function buildRequest(plan: RequestPlan, input: Input): BuiltRequest {
  const given = plan.parameters.filter(({ property }) => inputAt(input, property) != null) // `null` means absent
  const url = withPath(plan, input)
  url.search = queryOf(plan, given, input)
  const headers: Record<string, string> = { ...plan.headers }
  for (const header of given.filter((parameter) => parameter.in === 'header')) {
    const value = toSimple(header.name, inputAt(input, header.property), header, (text) => text)
    if (!isHeaderValue(value))
      throw new BadArgument(`"${header.property}" contains characters that a header must not contain.`)
    headers[header.name.toLowerCase()] = value
  }
  const body = plan.body && bodyOf(plan.body, input)
  if (plan.body !== undefined && body !== undefined) headers['content-type'] = plan.body.contentType
  return { url, headers, body }
}

function inputAt(input: Input, property: string): unknown {
  return Object.hasOwn(input, property) ? input[property] : undefined
}

function withPath({ url, parameters }: RequestPlan, input: Input): URL {
  const filled = url.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const parameter = parameters.find((planned) => planned.in === 'path' && planned.name === name)
    return pathPart(parameter?.property ?? name, parameter && inputAt(input, parameter.property), parameter)
  })
  const built = new URL(filled)
  // if a value made the URL parser normalize the path or change the host, the result differs
  if (built.href !== filled) throw new BadArgument('The input does not form a valid path of the API.')
  return built
}

function pathPart(property: string, value: unknown, parameter: PlannedParameter | undefined): string {
  if (parameter === undefined || value === undefined || value === null)
    throw new BadArgument(`"${property}" is missing: it is a part of the path.`)
  const part = toSimple(property, value, parameter, (text) => {
    if (leavesPath(text)) throw new BadArgument(`"${property}" would lead to another path.`)
    return encode(text)
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
    try {
      decoded = decodeURIComponent(decoded)
    } catch {
      return false
    }
  }
  return false
}

function queryOf(plan: RequestPlan, given: readonly PlannedParameter[], input: Input): string {
  const inQuery = plan.parameters.filter((parameter) => parameter.in === 'query')
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
  const pairs = given
    .filter((parameter) => parameter.in === 'query')
    .flatMap((parameter) => {
      const others = new Set(
        inQuery.filter((other) => other !== parameter).map((other) => encode(other.name)),
      )
      const written = toPairs(parameter.name, inputAt(input, parameter.property), parameter)
      const conflict = written.find(([name]) => reserved.has(name) || others.has(name))
      if (conflict !== undefined)
        throw new BadArgument(`"${parameter.property}" would set another parameter of the query.`)
      return written
    })
  const constants = Object.entries(plan.query).map(([name, value]) => [encode(name), encode(value)])
  return [...constants, ...pairs].map(([name, value]) => `${name}=${value}`).join('&')
}

function bodyOf(
  { encoding, template, isRequired, forms = {} }: PlannedBody,
  input: Input,
): string | undefined {
  const filled = fill(template, input)
  const isEmpty = filled === undefined || (isRecord(filled) && Object.keys(filled).length === 0)
  if (isEmpty && !isRequired) return undefined
  if (encoding === 'json') return JSON.stringify(filled ?? null)
  if (!isRecord(filled)) throw new BadArgument('The body of a form must be an object.')
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

/**
 * Fills placeholders with input values. `undefined` for a missing value, which is then left out of the object or list
 * around it.
 */
function fill(template: unknown, input: Input): unknown {
  if (typeof template === 'string') {
    const property = placeholderOf(template)
    return property === undefined ? template : inputAt(input, property)
  }
  if (Array.isArray(template))
    return template.map((part) => fill(part, input)).filter((part) => part !== undefined)
  if (!isRecord(template)) return template
  const members = Object.entries(template).map(([name, member]) => [name, fill(member, input)] as const)
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}
