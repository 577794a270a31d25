import type { SimulatedBlock, SimulatedClient, SimulatedRequest } from './definition.ts'
import { render, type Values } from './template.ts'

// Checks requests against the block of the definition that describes them (`token_request`, …). A parameter that is
// missing, unknown or different is a fault, and so is a client that authenticates in another way than declared.

/** What a parameter must be: this text, or one that the function accepts. */
export type Expected = string | ((value: string) => boolean)

/** A fault of a request. The message is the end of a sentence about the request, and contains no secret. */
export class RequestFault extends Error {}

/** The parameters of a request, from the query, a form or JSON. One that is sent twice is a fault. */
export function parametersOf(
  { method, url, headers, body }: SimulatedRequest,
  block: SimulatedBlock,
  endpoint: URL,
): Map<string, string> {
  const query = [...url.searchParams].filter(([name, value]) => endpoint.searchParams.get(name) !== value)
  if (method === 'GET' || body === '') return unique(query)
  if (query.length > 0) throw new RequestFault(`has the parameter ${query[0]?.[0]} in the URL`)
  const type = headers['content-type'] ?? ''
  const expected = block.request_content_type ?? 'application/x-www-form-urlencoded'
  if (!type.startsWith(expected))
    throw new RequestFault(`has the content type ${type} instead of ${expected}`)
  return unique(
    expected === 'application/json' ? Object.entries(JSON.parse(body)) : [...new URLSearchParams(body)],
  )
}

/**
 * Compares the parameters with the expected ones. `names`: the server's own names of parameters, by the standard names.
 */
export function checkParameters(
  actual: ReadonlyMap<string, string>,
  expected: ReadonlyMap<string, Expected>,
  names: Readonly<Record<string, string>> = {},
): void {
  const wanted = new Map([...expected].map(([name, value]) => [names[name] ?? name, value]))
  for (const [name, placeholder] of wanted) {
    const value = actual.get(name)
    if (value === undefined) throw new RequestFault(`lacks the parameter ${name}`)
    if (typeof placeholder === 'string' ? value !== placeholder : !placeholder(value))
      throw new RequestFault(`has another value of the parameter ${name} than the definition says`)
  }
  for (const name of actual.keys())
    if (!wanted.has(name))
      throw new RequestFault(`has the parameter ${name}, which the definition does not name`)
}

/** The standard parameters, with those of the block added or in their place; an empty template removes a parameter. */
export function withParams(
  standard: ReadonlyMap<string, Expected>,
  { params = {} }: SimulatedBlock,
  values: Values,
  separator = ' ',
): Map<string, Expected> {
  const all = new Map(standard)
  for (const [name, template] of Object.entries(params)) {
    const text = render(template, values, separator)
    if (text === '') all.delete(name)
    else all.set(name, text)
  }
  return all
}

export function checkHeaders(
  request: SimulatedRequest,
  { headers = {} }: SimulatedBlock,
  values: Values,
): void {
  for (const [name, template] of Object.entries(headers)) {
    const text = render(template, values)
    if (text !== '' && request.headers[name.toLowerCase()] !== text)
      throw new RequestFault(`has another value of the header ${name} than the definition says`)
  }
}

/** The parameters by which the client authenticates. Throws `RequestFault` for another way than the declared one. */
export function checkClient(
  { headers }: SimulatedRequest,
  { auth_method: method = 'client_secret_post', headers: own = {} }: SimulatedBlock,
  { clientId, clientSecret, verifies = () => false }: SimulatedClient,
): Map<string, Expected> {
  const { authorization } = headers
  const setsAuthorization = Object.keys(own).some((name) => name.toLowerCase() === 'authorization')
  switch (method) {
    case 'client_secret_basic':
    case 'client_secret_basic_unencoded': {
      const text = Buffer.from(/^Basic (.+)$/.exec(authorization ?? '')?.[1] ?? '', 'base64').toString('utf8')
      const [id = '', ...rest] = text.split(':')
      const decoded =
        method === 'client_secret_basic' ? [id, rest.join(':')].map(formDecoded) : [id, rest.join(':')]
      if (decoded[0] !== clientId || decoded[1] !== clientSecret)
        throw new RequestFault(`does not authenticate the client by ${method}`)
      return new Map()
    }
    case 'client_secret_post':
      if (authorization !== undefined && !setsAuthorization)
        throw new RequestFault('has an Authorization header besides the secret in its body')
      return new Map([
        ['client_id', clientId],
        ['client_secret', clientSecret],
      ])
    case 'private_key_jwt':
    case 'client_secret_jwt':
      return new Map<string, Expected>([
        ['client_id', clientId],
        ['client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'],
        ['client_assertion', verifies],
      ])
    case 'signed_client_secret':
      return new Map<string, Expected>([
        ['client_id', clientId],
        ['client_secret', verifies],
      ])
    case 'none':
    case 'bearer_access_token':
      if (method === 'none' && authorization !== undefined && !setsAuthorization)
        throw new RequestFault('has an Authorization header that the definition does not name')
      return new Map([['client_id', clientId]])
    default:
      throw new RequestFault(`authenticates by ${method}, which this simulator does not support`)
  }
}

/** The format of a token that is bound to a key (RFC 9449 section 7.1). */
export const BOUND_FORMAT = 'DPoP {{access_token}}'

/** Checks the access token in `Authorization`: as RFC 6750 section 2.1 has it, or in the format of the block. */
export function checkBearer(
  { headers }: SimulatedRequest,
  format: string | undefined,
  isToken: (token: string) => boolean,
): void {
  const [before = '', after = ''] = (format ?? 'Bearer {{access_token}}').split(/\{\{\s*access_token\s*\}\}/)
  const { authorization = '' } = headers
  const token = authorization.slice(before.length, authorization.length - after.length)
  if (!authorization.startsWith(before) || !authorization.endsWith(after) || !isToken(token))
    throw new RequestFault('does not carry the access token in Authorization as the definition says')
}

function formDecoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}

function unique(entries: readonly (readonly [string, unknown])[]): Map<string, string> {
  const all = new Map<string, string>()
  for (const [name, value] of entries) {
    if (all.has(name)) throw new RequestFault(`has the parameter ${name} twice`)
    if (typeof value !== 'string') throw new RequestFault(`has the parameter ${name}, which is no text`)
    all.set(name, value)
  }
  return all
}
