import { isRecord, type JsonRecord } from '../../../parsing/json-record.ts'
import {
  ANY_PART,
  carried,
  type ImportedProvider,
  type ImportNote,
  type ImportOptions,
  idOf,
  notCarried,
  variableName,
} from './imported.ts'

/** Members that are no part of a provider: the registered client, and the addresses of grant's own routes. */
const NOT_OF_THE_PROVIDER = new Set([
  ...['key', 'secret', 'client_id', 'client_secret', 'redirect_uri', 'callback', 'name', 'profile_url'],
  ...['origin', 'host', 'protocol', 'path', 'prefix', 'cookie', 'transport', 'response', 'state', 'nonce'],
  ...['oauth', 'authorize_url', 'access_url', 'scope', 'scope_delimiter', 'pkce', 'custom_params'],
  ...['token_endpoint_auth_method', 'request_url', 'dynamic'],
])
const METHODS: readonly unknown[] = ['client_secret_basic', 'client_secret_post']

/**
 * The providers of grant's `config/oauth.json`, or of an application's own configuration in that shape. For what it
 * leaves out, grant's own defaults hold: scopes joined by commas, the secret in the body, no PKCE. Refresh tokens go to
 * the token endpoint (RFC 6749 section 6): grant itself does not refresh.
 */
export function importGrant(document: JsonRecord, options: ImportOptions): readonly ImportedProvider[] {
  return Object.entries(document)
    .filter(([name]) => name !== 'defaults')
    .map(([name, entry]) =>
      isRecord(entry) ? importEntry(name, entry, options) : notCarried(name, 'is not an object'),
    )
}

function importEntry(name: string, entry: JsonRecord, options: ImportOptions): ImportedProvider {
  const id = idOf(name)
  if (id === undefined) return notCarried(name, 'no id can be made of its name')
  if (String(entry.oauth) !== '2')
    return notCarried(name, String(entry.oauth) === '1' ? 'OAuth 1' : 'no OAuth 2', 'oauth')
  const notes: ImportNote[] = Object.keys(entry)
    .filter((member) => !NOT_OF_THE_PROVIDER.has(member))
    .map((member) => ({ member, reason: 'a definition has no such member' }))
  const variables: Record<string, object> = {}
  const [authorize, token] = ['authorize_url', 'access_url'].map((member) =>
    typeof entry[member] === 'string' ? templateOf(entry[member], variables) : undefined,
  )
  if (authorize === undefined || token === undefined)
    return notCarried(name, 'its URLs are not given, or have parts that are no variables')
  if (Object.keys(variables).length > 0)
    notes.push({
      member: 'subdomain',
      reason: 'the source gives no pattern for it: any host or label is accepted',
    })
  const method = entry.token_endpoint_auth_method
  if (method !== undefined && !METHODS.includes(method))
    notes.push({ member: 'token_endpoint_auth_method', reason: 'a client authentication of another kind' })
  const delimiter = entry.scope_delimiter ?? ','
  if (delimiter !== ' ' && delimiter !== ',')
    notes.push({ member: 'scope_delimiter', reason: 'neither a space nor a comma' })
  const request = { endpoint: token, ...(METHODS.includes(method) && { auth_method: method }) }
  const oauth2 = {
    variables,
    ...(delimiter === ',' && { scope_delimiter: ',' }),
    ...(entry.pkce !== true && { pkce: { enabled: false } }),
    authorize_request: { endpoint: authorize, ...paramsOf(entry.custom_params, notes) },
    token_request: request,
    refresh_request: request,
    default_scopes: scopesOf(entry.scope, String(delimiter)),
  }
  return carried(name, { id, name, oauth2 }, notes, options)
}

/** grant's `[subdomain]` as a variable. `undefined` for any other bracket. */
function templateOf(url: string, variables: Record<string, object>): string | undefined {
  let isClear = true
  const template = url.replaceAll(/\[(\w+)\]/g, (_, written: string) => {
    const name = variableName(written)
    if (name === undefined) isClear = false
    else variables[name] = { label: 'Subdomain', pattern: ANY_PART, example: 'example' }
    return `{{${name}}}`
  })
  return isClear && !/[[\]]/.test(template) ? template : undefined
}

function paramsOf(value: unknown, notes: ImportNote[]): { params?: Record<string, string> } {
  if (value === undefined) return {}
  const members = isRecord(value) ? Object.entries(value).filter(([, setting]) => setting) : []
  const texts = members.flatMap(([name, content]) =>
    typeof content === 'object' || String(content).includes('{{') ? [] : [[name, String(content)] as const],
  )
  if (!isRecord(value) || texts.length < members.length)
    notes.push({ member: 'custom_params', reason: 'has values that are not text' })
  return texts.length > 0 ? { params: Object.fromEntries(texts) } : {}
}

function scopesOf(value: unknown, delimiter: string): readonly string[] | undefined {
  const scopes = Array.isArray(value) ? value : typeof value === 'string' ? value.split(delimiter) : []
  const texts = scopes.filter((scope) => typeof scope === 'string' && scope !== '').map(String)
  return texts.length > 0 ? texts : undefined
}
