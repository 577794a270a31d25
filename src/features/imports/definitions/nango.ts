import { isRecord, type JsonRecord } from '../../../parsing/json-record.ts'
import { headerNameFault } from '../../../providers/headers.ts'
import {
  carried,
  type ImportedProvider,
  type ImportNote,
  type ImportOptions,
  idOf,
  notCarried,
} from './imported.ts'
import { importCredentials, TYPED_MODES } from './nango-credentials.ts'
import { NangoTemplates, textsOf } from './nango-values.ts'

/** `OAUTH2_CC`: the client asks for tokens without a user. At Nango each connection has its own client, here the entry has. */
const OAUTH_MODES = ['OAUTH2', 'MCP_OAUTH2', 'OAUTH2_CC']

/** Kinds of authorization without a user's code, and what each is. */
const NO_CODE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    TBA: 'OAuth 1 (token-based authentication)',
    JWT: 'tokens that the client signs itself, without a user’s code',
    APP: 'installations of an app, with tokens that the client signs itself',
    CUSTOM: 'installations of an app beside OAuth 2',
    AWS_SIGV4: 'signed requests, no OAuth',
    SIGNATURE: 'signed requests, no OAuth',
    BILL: 'a login of its own kind, no OAuth',
    INSTALL_PLUGIN: 'a plugin, no OAuth',
    MCP_OAUTH2_GENERIC: 'any MCP server: add the server itself as a worker',
    NONE: 'no authorization',
  }),
)

/** Members that say nothing of authorization: documentation, webhooks, and declarations of values for templates. */
const NOT_ABOUT_AUTHORIZATION = new Set([
  ...['docs', 'docs_connect', 'setup_guide_url', 'categories', 'display_name', 'alias'],
  ...['webhook_routing_script', 'webhook_user_defined_secret', 'webhook_allowed_query_params'],
  ...['connection_config', 'connection_configuration', 'token_response_metadata', 'redirect_uri_metadata'],
])
const READ = new Set([
  ...['auth_mode', 'authorization_url', 'token_url', 'refresh_url', 'proxy', 'auth', 'disable_pkce'],
  ...['authorization_params', 'token_params', 'refresh_params', 'default_scopes', 'scope_separator'],
  ...['authorization_method', 'token_request_auth_method', 'body_format', 'expires_in_unit'],
  ...['authorization_url_replacements', 'authorization_code_param_in_callback', 'client_registration'],
  ...['registration_url', 'registration_params', 'authorization_url_skip_empty'],
])
/** `credentials` declares the client, which a definition does not have. */
const READ_OF_MACHINES = ['credentials', 'token_headers', 'token_expires_in_ms']
const READ_OF_OAUTH1 = new Set([
  ...['auth_mode', 'authorization_url', 'token_url', 'request_url', 'signature_method', 'proxy'],
  ...['authorization_params', 'request_params', 'token_params', 'request_http_method', 'token_http_method'],
])
const READ_OF_TYPED = new Set([
  ...['auth_mode', 'credentials', 'proxy', 'token_url', 'token_params', 'token_headers', 'token_response'],
  ...['token_request_method', 'token_expires_in_ms', 'token_expiration_buffer', 'body_format'],
])
/** Members of `proxy` that are read, or that are ignored because they are no part of an authorization. */
const READ_OF_PROXY = new Set([
  ...['base_url', 'headers', 'retry', 'paginate', 'decompress', 'verification', 'connection_config'],
  ...['forward_headers_on_redirect'],
])
/** Values of `grant_type` that follow from the kind of the request. */
const OWN_GRANTS = ['refresh_token', 'client_credentials', 'account_credentials']
const STANDARD: Readonly<Record<string, string>> = {
  response_type: 'code',
  grant_type: 'authorization_code',
}

/** The providers of Nango's `providers.yaml`. An entry inherits the members of the entry that its `alias` names. */
export function importNango(document: JsonRecord, options: ImportOptions): readonly ImportedProvider[] {
  return Object.entries(document).map(([name, own]) => {
    if (!isRecord(own)) return notCarried(name, 'is not an object')
    const base = typeof own.alias === 'string' ? document[own.alias] : {}
    if (!isRecord(base)) return notCarried(name, 'names another entry that is not there', 'alias')
    return importEntry(name, { ...base, ...own }, options)
  })
}

function importEntry(name: string, entry: JsonRecord, options: ImportOptions): ImportedProvider {
  const mode = String(entry.auth_mode)
  if (TYPED_MODES.includes(mode)) return importCredentials(name, entry, unread(entry, READ_OF_TYPED), options)
  if (mode === 'OAUTH1') return importOAuth1(name, entry, options)
  if (!OAUTH_MODES.includes(mode))
    return notCarried(name, NO_CODE.get(mode) ?? 'an authorization of an unknown kind', 'auth_mode')
  const id = idOf(name)
  if (id === undefined) return notCarried(name, 'no id can be made of its name')
  const notes = unread(entry, mode === 'OAUTH2_CC' ? new Set([...READ, ...READ_OF_MACHINES]) : READ)
  const templates = new NangoTemplates(entry, notes)
  const isUserless = mode === 'OAUTH2_CC'
  const { grant_type: grant = 'client_credentials' } = isRecord(entry.token_params) ? entry.token_params : {}
  if (isUserless && !OWN_GRANTS.includes(String(grant)))
    return notCarried(name, 'a grant of its own kind', 'token_params.grant_type')
  const urls = {
    authorize: isUserless ? undefined : urlOf(templates, entry, 'authorization_url'),
    token: urlOf(templates, entry, 'token_url'),
    refresh: entry.refresh_url === undefined ? undefined : urlOf(templates, entry, 'refresh_url'),
  }
  if ((urls.authorize === undefined && !isUserless) || urls.token === undefined)
    return {
      name,
      carried: 'none',
      notes: notes.filter(({ member }) => /^(?:authorization|token)_url\b/.test(member)),
    }
  const request = (params: unknown, member: string) => ({
    ...authentication(entry, notes),
    ...(entry.body_format === 'json' && { request_content_type: 'application/json' }),
    ...(entry.expires_in_unit === 'milliseconds' && { expiration_format: 'relative_milliseconds' }),
    ...paramsOf(templates, params, member),
  })
  const scope = isRecord(entry.authorization_params) ? entry.authorization_params.scope : undefined
  const scopes = textsOf(entry.default_scopes)
  registration(entry, notes)
  const oauth2 = {
    variables: templates.variables,
    kept_values: templates.keptValues,
    callback_members: templates.callbackMembers,
    ...separator(entry, notes),
    ...(entry.disable_pkce === true && { pkce: { enabled: false } }),
    ...(isUserless
      ? { grant: { type: grant } }
      : {
          authorize_request: { endpoint: urls.authorize, ...authorization(templates, entry) },
          refresh_request: {
            endpoint: urls.refresh ?? urls.token,
            ...request(entry.refresh_params ?? entry.token_params, 'refresh_params'),
          },
        }),
    token_request: isUserless
      ? machineRequest(templates, entry, { endpoint: urls.token, ...request({}, 'token_params') })
      : { endpoint: urls.token, ...request(entry.token_params, 'token_params') },
    ...(isUserless && lifetimeOf(entry)),
    default_scopes: scopes.length > 0 ? scopes : typeof scope === 'string' ? [scope] : undefined,
    ...(typeof entry.authorization_code_param_in_callback === 'string' && {
      code_parameter: entry.authorization_code_param_in_callback,
    }),
    api: apiOf(templates, entry.proxy, notes),
  }
  const displayName = typeof entry.display_name === 'string' ? entry.display_name : name
  return carried(name, { id, name: displayName, oauth2 }, unique(notes), options)
}

/** OAuth 1.0a. `request_url` is the endpoint of temporary credentials (RFC 5849 section 2.1). */
function importOAuth1(name: string, entry: JsonRecord, options: ImportOptions): ImportedProvider {
  const id = idOf(name)
  if (id === undefined) return notCarried(name, 'no id can be made of its name')
  const notes = unread(entry, READ_OF_OAUTH1)
  const templates = new NangoTemplates(entry, notes)
  const request = (url: string, params: string, method: unknown) => ({
    endpoint: urlOf(templates, entry, url),
    ...(method === 'GET' && { method }),
    ...paramsOf(templates, entry[params], params),
  })
  const { headers, ...api } = apiOf(templates, entry.proxy, notes) ?? {}
  const own =
    isRecord(headers) && Object.values(headers).every((text) => !String(text).includes('{{access_token}}'))
  const oauth1 = {
    variables: templates.variables,
    temporary_request: request('request_url', 'request_params', entry.request_http_method),
    authorize_request: request('authorization_url', 'authorization_params', undefined),
    token_request: request('token_url', 'token_params', entry.token_http_method),
    signature_method: entry.signature_method,
    api: api.base_url === undefined ? undefined : { base_url: api.base_url, ...(own && { headers }) },
  }
  const displayName = typeof entry.display_name === 'string' ? entry.display_name : name
  return carried(name, { id, name: displayName, type: 'oauth1', oauth1 }, unique(notes), options)
}

/** The members of the entry that are neither read nor without a meaning here. */
function unread(entry: JsonRecord, read: ReadonlySet<string>): ImportNote[] {
  return Object.keys(entry)
    .filter((member) => !read.has(member) && !NOT_ABOUT_AUTHORIZATION.has(member))
    .map((member) => ({ member, reason: REASONS.get(member) ?? 'a definition has no such member' }))
}

const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    post_connection_script: 'code of Nango that runs after the consent',
    pre_connection_deletion_script: 'code of Nango that runs before a connection is deleted',
    credentials_verification_script: 'code of Nango that checks a connection',
    alternate_access_token_response_path: 'a second place of the token, where the first has none',
    installation: 'an installation that begins at the provider',
    authorization_code_param_in_webhook: 'a code that comes in a webhook',
    webhook_response_metadata: 'values that come in a webhook',
  }),
)

function urlOf(templates: NangoTemplates, entry: JsonRecord, member: string): string | undefined {
  const written = entry[member]
  if (typeof written === 'string') return templates.url(member, written)
  templates.notes.push({ member, reason: 'is not a URL' })
  return undefined
}

function authentication(entry: JsonRecord, notes: ImportNote[]): { auth_method?: string } {
  const { token_request_auth_method: method, authorization_method: place } = entry
  if (method === 'private_key_jwt') return { auth_method: method }
  if (method !== undefined && method !== 'basic')
    notes.push({ member: 'token_request_auth_method', reason: 'a client authentication of another kind' })
  if (place !== undefined && place !== 'header' && place !== 'body')
    notes.push({ member: 'authorization_method', reason: 'a client authentication of another kind' })
  return method === 'basic' || place === 'header' ? { auth_method: 'client_secret_basic' } : {}
}

function separator(
  { scope_separator: separator }: JsonRecord,
  notes: ImportNote[],
): { scope_delimiter?: string } {
  if (separator === ',') return { scope_delimiter: ',' }
  if (separator !== undefined && separator !== ' ')
    notes.push({ member: 'scope_separator', reason: 'neither a space nor a comma' })
  return {}
}

/** Notes that the client registers itself, which a definition cannot say. */
function registration({ client_registration: kind }: JsonRecord, notes: ImportNote[]): void {
  if (kind === 'dynamic' || kind === 'cimd')
    notes.push({
      member: 'client_registration',
      reason: 'the client registers itself: add the MCP server as a worker, or register a client by hand',
    })
}

/** The authorization request's further parameters, and the server's names of standard ones. */
function authorization(templates: NangoTemplates, entry: JsonRecord): Record<string, unknown> {
  const { authorization_params: params, authorization_url_replacements: replacements } = entry
  const { scope: _, ...others } = isRecord(params) ? params : {}
  const read = paramsOf(templates, others, 'authorization_params').params ?? {}
  const names: Record<string, string> = {}
  for (const [written, name] of Object.entries(isRecord(replacements) ? replacements : {})) {
    const standard = written.replace(/=$/, '')
    const other = String(name).replace(/=$/, '')
    if (standard === 'response_type' && other === '') read.response_type = ''
    else if (['client_id', 'redirect_uri', 'response_type', 'scope'].includes(standard) && other !== '')
      names[standard] = other
    else
      templates.notes.push({
        member: 'authorization_url_replacements',
        reason: `${standard} keeps its name here`,
      })
  }
  return {
    ...(Object.keys(read).length > 0 && { params: read }),
    ...(Object.keys(names).length > 0 && { parameter_names: names }),
  }
}

function paramsOf(
  templates: NangoTemplates,
  value: unknown,
  member: string,
): { params?: Record<string, string> } {
  const params: Record<string, string> = {}
  for (const [name, content] of Object.entries(isRecord(value) ? value : {})) {
    const text = String(content)
    if (STANDARD[name] === text || (name === 'grant_type' && OWN_GRANTS.includes(text))) continue
    if (/\$\{|\{\{/.test(text) || typeof content === 'object')
      templates.notes.push({ member: `${member}.${name}`, reason: 'names a value of the connection' })
    else params[name] = text
  }
  return Object.keys(params).length > 0 ? { params } : {}
}

/** A token request that the client makes alone: its parameters may name values of the entry, and it has headers. */
function machineRequest(
  templates: NangoTemplates,
  { token_params: given, token_headers: sent }: JsonRecord,
  request: JsonRecord,
): JsonRecord {
  const params = Object.entries(isRecord(given) ? given : {}).flatMap(([name, content]) => {
    const text = String(content)
    if (name === 'grant_type' && OWN_GRANTS.includes(text)) return []
    const value = templates.param(`token_params.${name}`, text)
    return value === undefined ? [] : [[name, value] as const]
  })
  const headers = Object.entries(isRecord(sent) ? sent : {}).flatMap(([name, content]) => {
    if (USUAL_HEADERS[name.toLowerCase()] === content) return []
    const isLiteral = headerNameFault(name.toLowerCase()) === undefined && !/\$\{|\{\{/.test(String(content))
    if (isLiteral) return [[name, String(content)] as const]
    templates.notes.push({ member: `token_headers.${name}`, reason: 'a header that a request cannot have' })
    return []
  })
  return {
    ...request,
    ...(params.length > 0 && { params: Object.fromEntries(params) }),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
  }
}

/** Headers that every token request has. */
const USUAL_HEADERS: Readonly<Record<string, unknown>> = {
  accept: 'application/json',
  'content-type': 'application/x-www-form-urlencoded',
}

/** The lifetime of tokens that state none; 0 is one without end. */
function lifetimeOf({ token_expires_in_ms: lifetime }: JsonRecord): { default_expires_in?: number } {
  const seconds = Math.floor(Number(lifetime) / 1000)
  return seconds >= 60 ? { default_expires_in: seconds } : {}
}

function apiOf(templates: NangoTemplates, proxy: unknown, notes: ImportNote[]): JsonRecord | undefined {
  if (!isRecord(proxy)) return undefined
  for (const member of Object.keys(proxy))
    if (!READ_OF_PROXY.has(member))
      notes.push({ member: `proxy.${member}`, reason: 'a definition has no such member' })
  if (typeof proxy.base_url !== 'string') return undefined
  const url = templates.url('proxy.base_url', proxy.base_url, { mayBeKept: true })
  if (url === undefined) return undefined
  const host = /^https:\/\/([^/?#]+)/.exec(url)?.[1] ?? url
  const isKept = Object.keys(templates.keptValues).some((name) => host.includes(`{{${name}}}`))
  const suffix = /^\{\{\w+\}\}\.((?:[a-z0-9-]+\.)+[a-z]+)$/.exec(host)?.[1]
  if (isKept && suffix === undefined) {
    notes.push({
      member: 'proxy.base_url',
      reason: 'the provider tells its host: name the hosts that may get the token (oauth2.api.hosts)',
    })
    return undefined
  }
  return {
    base_url: url,
    ...(isKept && { hosts: [`*.${suffix}`] }),
    ...headersOf(templates, proxy.headers, notes),
  }
}

/** Nango's names of the client's id and of the access token, in our form. */
const OF_CLIENT: ReadonlyMap<string, string> = new Map([
  ['accessToken', '{{access_token}}'],
  ['clientId', '{{client_id}}'],
])

function headersOf(
  templates: NangoTemplates,
  value: unknown,
  notes: ImportNote[],
): { headers?: JsonRecord; auth_header_value_format?: string | undefined } {
  const headers: Record<string, string> = {}
  let authorization: string | undefined
  for (const [header, written] of Object.entries(isRecord(value) ? value : {})) {
    const name = header.toLowerCase()
    const member = `proxy.headers.${header}`
    const texts = String(written)
      .split(/\s*\|\|\s*/)
      .map((template) => templates.text(template, OF_CLIENT))
    const text = texts.find((candidate) => candidate !== undefined)
    if (name === 'user-agent') notes.push({ member, reason: 'names another product' })
    else if (headerNameFault(name) !== undefined) notes.push({ member, reason: 'Gatepass sets it itself' })
    else if (text === undefined) notes.push({ member, reason: 'names a value that a header cannot have' })
    else if (name !== 'authorization') headers[name] = text
    else if (/^[^{]*\{\{access_token\}\}[^{]*$/.test(text)) authorization = text
    else notes.push({ member, reason: 'is more than the access token' })
    if (text !== undefined && texts.length > 1)
      notes.push({ member, reason: 'has an alternative, of which one is carried over' })
  }
  return { ...(Object.keys(headers).length > 0 && { headers }), auth_header_value_format: authorization }
}

function unique(notes: readonly ImportNote[]): readonly ImportNote[] {
  return [...new Map(notes.map((note) => [`${note.member}\n${note.reason}`, note])).values()]
}
