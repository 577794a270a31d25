import { isRecord, type JsonRecord } from '../../../parsing/json-record.ts'
import { openDomainFault } from '../../../providers/fixed-domain.ts'
import { headerNameFault } from '../../../providers/headers.ts'
import type { Provider } from '../../../providers/provider.ts'
import {
  carried,
  type ImportedProvider,
  type ImportNote,
  type ImportOptions,
  idOf,
  notCarried,
} from './imported.ts'
import { NangoTyped } from './nango-typed.ts'
import { NangoTemplates } from './nango-values.ts'

// Nango's modes in which people type something: a key (`API_KEY`), a user name and a password (`BASIC`), or what a login
// makes a token of (`TWO_STEP`).

export const TYPED_MODES: readonly string[] = ['API_KEY', 'BASIC', 'TWO_STEP']

/** Members of a login that change what is sent, which a definition cannot say. */
const OTHER_LOGINS: readonly (readonly [member: string, reason: string])[] = [
  ['additional_steps', 'a login of several requests'],
  ['signature', 'a token that is signed'],
  ['assertion', 'a token that is signed'],
  ['assertion_option', 'a token that is signed'],
  ['token_response_headers', 'a token in a header'],
]

/** `notes`: members that were left out already. */
export function importCredentials(
  name: string,
  entry: JsonRecord,
  notes: ImportNote[],
  options: ImportOptions,
): ImportedProvider {
  const id = idOf(name)
  if (id === undefined) return notCarried(name, 'no id can be made of its name')
  const other = OTHER_LOGINS.find(([member]) => entry[member] !== undefined)
  if (other !== undefined) return notCarried(name, other[1], other[0])
  const proxy = isRecord(entry.proxy) ? entry.proxy : {}
  const templates = new NangoTemplates(entry, notes)
  const typed = new NangoTyped(entry, templates, notes)
  const baseUrl =
    typeof proxy.base_url === 'string' ? templates.url('proxy.base_url', proxy.base_url) : undefined
  if (baseUrl === undefined)
    return {
      name,
      carried: 'none',
      notes: [...lastOf(notes), { member: 'proxy.base_url', reason: 'no URL' }],
    }
  const login = entry.auth_mode === 'TWO_STEP' ? loginOf(entry, templates, typed, notes) : undefined
  if (typeof login === 'string') return notCarried(name, login, 'token_params')
  const found = placeOf(entry, proxy, typed, notes)
  if (typeof found === 'string') return notCarried(name, found, 'proxy')
  const { headers, ...place } = found
  const beside = { ...fixedHeaders(proxy.headers, notes), ...headers }
  const test = testOf(proxy.verification, baseUrl, typed, notes)
  const urls = [baseUrl, login?.endpoint, test?.endpoint].filter((url) => url !== undefined)
  const { asked, given } = divided(templates, urls)
  const credentials = {
    variables: given,
    fields: { ...asked, ...typed.fields },
    ...place,
    ...(test && { test_request: test }),
    ...(login && { token_request: login }),
    ...(test === undefined && login === undefined && { unchecked: true }),
    api: {
      base_url: baseUrl.replace(/\/+$/, ''),
      ...(Object.keys(beside).length > 0 && { headers: beside }),
    },
  }
  const displayName = typeof entry.display_name === 'string' ? entry.display_name : name
  return carried(
    name,
    { id, name: displayName, type: 'credentials', owner: 'either', credentials },
    [...new Map(notes.map((note) => [`${note.member}\n${note.reason}`, note])).values()],
    options,
  )
}

function lastOf(notes: readonly ImportNote[]): readonly ImportNote[] {
  return notes.filter(({ member }) => member.startsWith('proxy.base_url'))
}

const hasPlaceholder = (text: unknown) => /\$\{/.test(String(text))

/**
 * Where requests have the credential, with the headers beside it that name what is no secret; or why there is no such
 * place.
 */
function placeOf(entry: JsonRecord, proxy: JsonRecord, typed: NangoTyped, notes: ImportNote[]) {
  const written = isRecord(proxy.headers) ? Object.entries(proxy.headers) : []
  const headers: Record<string, string> = {}
  let basic: { username: string; password: string } | undefined
  for (const [header, value] of written) {
    if (!hasPlaceholder(value) || /^user-agent$/i.test(header)) continue
    const pair = /^Basic \$\{base64\((\$\{[^}]*\}|[^$:]*):(\$\{[^}]*\}|[^$]*)\)\}$/.exec(String(value))
    if (pair !== null) {
      const [username, password] = [typed.text(pair[1] ?? ''), typed.text(pair[2] ?? '')]
      if (username === undefined || password === undefined) return 'a header that is computed'
      basic = { username, password }
      continue
    }
    const text = typed.text(String(value))
    if (text === undefined) return 'a header that is computed'
    headers[header] = text
  }
  const query: Record<string, string> = {}
  for (const [parameter, value] of Object.entries(isRecord(proxy.query) ? proxy.query : {})) {
    const text = typed.text(String(value))
    if (text === undefined) return 'a parameter that is computed'
    if (text.includes('{{')) query[parameter] = text
    else notes.push({ member: `proxy.query.${parameter}`, reason: 'a fixed parameter of each request' })
  }
  const isInQuery = Object.keys(query).length > 0
  const secretHeaders = Object.values(headers).some(
    (text) => /\{\{access_token/.test(text) || typed.namesSecret(text),
  )
  if (isInQuery && (secretHeaders || basic !== undefined)) return 'two places of credentials at once'
  if (isInQuery) return { place: { query }, in_url: true, headers }
  if (basic === undefined && entry.auth_mode === 'BASIC' && headers.authorization === undefined)
    basic = { username: typed.value('username') ?? '', password: typed.value('password') ?? '' }
  if (basic !== undefined)
    return secretHeaders ? 'two places of credentials at once' : { place: { basic }, headers }
  if (Object.keys(headers).length === 0)
    return entry.auth_mode === 'TWO_STEP'
      ? { place: { bearer: '{{access_token}}' }, headers: {} }
      : 'no place of the key in requests'
  const [only, ...others] = Object.entries(headers)
  const bearer = /^authorization$/i.test(only?.[0] ?? '') && /^Bearer (\{\{\w+\}\})$/.exec(only?.[1] ?? '')
  if (bearer && others.length === 0) return { place: { bearer: bearer[1] }, headers: {} }
  return { place: { headers }, headers: {} }
}

/** The headers that the place does not have. */
function fixedHeaders(value: unknown, notes: ImportNote[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [header, written] of Object.entries(isRecord(value) ? value : {})) {
    const member = `proxy.headers.${header}`
    if (/^user-agent$/i.test(header)) notes.push({ member, reason: 'names another product' })
    else if (hasPlaceholder(written)) continue
    else if (headerNameFault(header.toLowerCase()) !== undefined)
      notes.push({ member, reason: 'Gatepass sets it itself' })
    else headers[header] = String(written)
  }
  return headers
}

/** The request that checks what was typed; the others that the source names are left out. */
function testOf(verification: unknown, baseUrl: string, typed: NangoTyped, notes: ImportNote[]) {
  if (!isRecord(verification)) return undefined
  const member = 'proxy.verification'
  const { method = 'GET', endpoints, base_url_override: other } = verification
  const [written] = Array.isArray(endpoints) ? endpoints : []
  if (typeof written !== 'string') return undefined
  const drop = (reason: string) => {
    notes.push({ member, reason })
    return undefined
  }
  if (method !== 'GET') return drop('a check that may change something')
  if (other !== undefined) return drop('a check at another host')
  const path = typed.text(written)
  if (path === undefined) return drop('a check that names a value which users do not type')
  if (typed.namesSecret(path)) return drop('a check that puts a secret into the URL')
  const [address = '', query = ''] = path.split('?')
  const params = Object.fromEntries(new URLSearchParams(query))
  return {
    endpoint: `${baseUrl.replace(/\/+$/, '')}/${address.replace(/^\/+/, '')}`,
    ...(Object.keys(params).length > 0 && { params }),
  }
}

/** The request that makes a token of what was typed, or why a definition cannot say it. */
function loginOf(entry: JsonRecord, templates: NangoTemplates, typed: NangoTyped, notes: ImportNote[]) {
  if (/\$\{credentials\./.test(String(entry.token_url))) return 'a secret in the URL of a login'
  const endpoint = templates.url('token_url', String(entry.token_url))
  if (endpoint === undefined) return 'a login at a URL that is not fixed'
  const params: Record<string, string> = {}
  for (const [parameter, value] of Object.entries(isRecord(entry.token_params) ? entry.token_params : {})) {
    const text = isRecord(value) ? undefined : typed.text(String(value))
    if (text === undefined) return 'a login with a body of its own form'
    params[parameter] = text
  }
  const headers: Record<string, string> = {}
  for (const [header, value] of Object.entries(isRecord(entry.token_headers) ? entry.token_headers : {})) {
    const text = typed.text(String(value))
    if (text === undefined) return 'a login with a header that is computed'
    if (!/^content-type$/i.test(header)) headers[header] = text
  }
  if (entry.body_format === 'xml') return 'a login in XML'
  const type = isRecord(entry.token_headers) ? String(entry.token_headers['content-type'] ?? '') : ''
  const isJson = entry.body_format === 'json' || (entry.body_format === undefined && /json/.test(type))
  const {
    token,
    token_expiration: expires,
    token_expiration_strategy: strategy,
  } = isRecord(entry.token_response) ? entry.token_response : {}
  if (typeof token !== 'string' || token === '') return 'a token that is the whole answer'
  if (expires !== undefined && strategy !== 'expireIn')
    notes.push({
      member: 'token_response.token_expiration',
      reason: 'a time whose form the source does not say',
    })
  if (entry.token_expires_in_ms !== undefined)
    notes.push({ member: 'token_expires_in_ms', reason: 'the token is used until the service refuses it' })
  return {
    endpoint,
    ...(entry.token_request_method === 'GET' && { method: 'GET' }),
    ...(isJson && { request_content_type: 'application/json' }),
    ...(Object.keys(params).length > 0 && { params }),
    ...(Object.keys(headers).length > 0 && { headers }),
    response_map: {
      access_token: `$.${token}`,
      ...(typeof expires === 'string' && strategy === 'expireIn' && { expires_in: `$.${expires}` }),
    },
  }
}

/** The values in URLs: those that users are asked for, and those that would let users decide a domain. */
function divided({ variables }: NangoTemplates, urls: readonly string[]) {
  const naming: NonNullable<Provider['variables']> = Object.fromEntries(
    Object.entries(variables).map(([name, { pattern = '', one_of: oneOf, value, example }]) => [
      name,
      {
        pattern: String(pattern),
        value: String(value ?? example ?? ''),
        askUser: true as const,
        ...(Array.isArray(oneOf) && { oneOf }),
      },
    ]),
  )
  const isOpen = urls.some((url) => openDomainFault(url, { variables: naming }) !== undefined)
  if (isOpen) return { asked: {}, given: variables }
  const asked = Object.entries(variables).map(([name, { value, ...field }]) => [
    name,
    { ...field, ...(value !== undefined && { example: value }) },
  ])
  return { asked: Object.fromEntries(asked), given: {} }
}
