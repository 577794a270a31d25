import type { SimulatedRequest } from '../../dev-provider/simulator/definition.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { placeholderOf, type RequestPlan } from '../../tools/openapi/request-plan.ts'
import { conversionIn } from '../../tools/openapi/templates/conversion-names.ts'
import { propertiesIn } from '../../tools/openapi/templates/placeholders.ts'

/** How a request fits a tool. */
export interface Fit {
  /** How many constants of the description the request has: of two tools that fit, the one with more of them is meant. */
  readonly constants: number
  /** The values of the input, where the request has them unchanged. */
  readonly input: Readonly<Record<string, unknown>>
}

class Fitting implements Fit {
  constants = 0
  readonly input: Record<string, unknown> = {}

  take(property: string, value: unknown): true {
    this.input[property] = value
    return true
  }

  constant(isEqual: boolean): boolean {
    this.constants++
    return isEqual
  }
}

/** Whether the tool's description can have made the request; `undefined`: it cannot. */
export function fitOf(plan: RequestPlan, request: SimulatedRequest): Fit | undefined {
  const fit = new Fitting()
  const isFit =
    request.method === plan.method &&
    fitsPath(plan, request.url, fit) &&
    fitsQuery(plan, request.url, fit) &&
    fitsHeaders(plan, request, fit) &&
    fitsBody(plan, request, fit)
  return isFit ? fit : undefined
}

function fitsPath({ url, parameters }: RequestPlan, sent: URL, fit: Fitting): boolean {
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const names: string[] = []
  const pattern = url
    .split(/(\{\{\w+\}\}|\{[^{}]+\})/)
    .map((part, index) => {
      if (part.startsWith('{{')) return index === 1 && url.startsWith(part) ? 'https://[^/]+' : '[^/]+'
      if (!part.startsWith('{')) return escaped(part)
      names.push(part.slice(1, -1))
      return inPath.find(({ name }) => `{${name}}` === part)?.isSegments ? '(.+)' : '([^/]+)'
    })
    .join('')
  const match = new RegExp(`^${pattern}$`).exec(sent.origin + sent.pathname)
  if (match === null) return false
  for (const [index, name] of names.entries()) {
    const parameter = inPath.find((one) => one.name === name)
    if (parameter?.template === undefined)
      fit.take(parameter?.property ?? name, decodeURIComponent(match[index + 1] ?? ''))
  }
  return true
}

/** A text as a part of a regular expression. */
export function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

function fitsQuery({ query, parameters, answer }: RequestPlan, { searchParams }: URL, fit: Fitting): boolean {
  const hasConstants = Object.entries(query).every(([name, value]) =>
    fit.constant(searchParams.getAll(name).includes(value)),
  )
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  const ofPages = answer?.pages?.parameters ?? []
  return (
    hasConstants &&
    [...searchParams].every(([name, value]) => {
      if (Object.hasOwn(query, name) || ofPages.includes(name)) return true
      const parameter = inQuery.find((one) => name === one.name || name.startsWith(`${one.name}[`))
      if (parameter === undefined) return false
      const property =
        parameter.template === undefined
          ? parameter.property
          : typeof parameter.template === 'string' && placeholderOf(parameter.template)
      if (property) fit.take(property, value)
      return true
    })
  )
}

function fitsHeaders({ headers }: RequestPlan, sent: SimulatedRequest, fit: Fitting): boolean {
  return Object.entries(headers).every(([name, value]) => fit.constant(sent.headers[name] === value))
}

function fitsBody({ body }: RequestPlan, request: SimulatedRequest, fit: Fitting): boolean {
  if (body === undefined) return request.body === ''
  if (request.body === '') return !body.isRequired && constantsIn(body.template) === 0
  if (body.encoding === 'text' || body.encoding === 'parts') return true
  const isForm = body.encoding === 'form'
  const sent = isForm ? formIn(request.body) : jsonIn(request.body)
  return sent !== undefined && fitsTemplate(body.template, sent.value, { fit, isForm })
}

interface Fitted {
  readonly fit: Fitting
  /** Every value of a form is a text, and a nested one is `name[…]`. */
  readonly isForm: boolean
}

function fitsTemplate(template: unknown, sent: unknown, by: Fitted): boolean {
  const { fit, isForm } = by
  if (typeof template === 'string') {
    const property = placeholderOf(template)
    return property === undefined ? fit.constant(sent === template) : fit.take(property, sent)
  }
  if (Array.isArray(template)) {
    if (!Array.isArray(sent)) return isForm
    return template.length === sent.length
      ? template.every((part, index) => fitsTemplate(part, sent[index], by))
      : propertiesIn(template).length > 0
  }
  if (!isRecord(template)) return fit.constant(isForm ? String(sent) === String(template) : sent === template)
  if (conversionIn(template) !== undefined) return true
  if (!isRecord(sent)) return isForm
  return (
    Object.keys(sent).every((name) => Object.hasOwn(template, name)) &&
    Object.entries(template).every(([name, part]) =>
      Object.hasOwn(sent, name) ? fitsTemplate(part, sent[name], by) : mayBeLeftOut(part),
    )
  )
}

/** A part without placeholders is always sent; another one depends on the input. */
function mayBeLeftOut(part: unknown): boolean {
  return propertiesIn(part).length > 0 || (isRecord(part) && conversionIn(part) !== undefined)
}

function constantsIn(template: unknown): number {
  return isRecord(template) ? Object.values(template).filter((part) => !mayBeLeftOut(part)).length : 0
}

function jsonIn(body: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(body) }
  } catch {
    return undefined
  }
}

function formIn(body: string): { readonly value: JsonRecord } {
  const pairs = [...new URLSearchParams(body)].map(([name, value]) => [name.replace(/\[.*$/, ''), value])
  return { value: Object.fromEntries(pairs) }
}

/** What the request consists of, for comparisons: its segments, its pairs, and the values of its body with their places. */
export function partsOf({ method, url, body }: Omit<SimulatedRequest, 'headers'>): ReadonlySet<string> {
  const json = jsonIn(body)
  return new Set([
    method,
    ...url.pathname.split('/').map((segment, index) => `${index}:${segment}`),
    ...[...url.searchParams].map(([name, value]) => `?${name}=${value}`),
    ...(json === undefined
      ? [...new URLSearchParams(body)].map(([name, value]) => `${name}=${value}`)
      : leaves(json.value, '')),
  ])
}

function leaves(value: unknown, at: string): string[] {
  if (typeof value !== 'object' || value === null) return [`${at}=${JSON.stringify(value)}`]
  return Object.entries(value).flatMap(([name, part]) => leaves(part, `${at}.${name}`))
}
