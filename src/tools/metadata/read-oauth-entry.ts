import type { ScopeMeaning } from '../../domain/scopes.ts'
import { mayBeReached } from '../../egress/endpoint.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { findBuiltInByEndpoints } from '../../providers/catalogue/registry.ts'
import type { IssuerDecides, Provider } from '../../providers/provider.ts'
import { asText, isAbsent, kindOf, quote, Refusal } from '../read-json.ts'
import { at, member, textMember, type Warn } from './metadata-member.ts'
import { type EntryMembers, providerOf } from './oauth-entry-provider.ts'

/**
 * One `oauth` entry of a tool: a provider, the broker's client there if the file contains it, and the scopes the tool
 * needs.
 */
export interface OAuthEntry {
  /** The name that the tool's code uses for the provider; compared case-insensitively. */
  readonly name: string
  readonly provider: Provider
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  /** The scopes the tool needs, unchanged. */
  readonly scopes: readonly string[]
  /** For information only: the broker always sends its own redirect URI. */
  readonly redirectUrl?: string | undefined
}

interface EntryOptions {
  allowsHttp(url: URL): boolean
}

/**
 * Reads a tool's `oauth` entries; without any the tool needs no authorization. Throws `Refusal` for what could only
 * be guessed.
 */
export function readOAuthEntries(
  value: unknown,
  path: string,
  options: EntryOptions,
  warn: Warn,
): OAuthEntry[] {
  if (isAbsent(value)) return []
  if (isRecord(value)) warn(path, 'It is an object; it was read as a list of that one entry.')
  else if (!Array.isArray(value))
    throw new Refusal(`${path} is ${kindOf(value)}; write it as a list of entries.`)
  const entries: OAuthEntry[] = []
  const known = new Map<string, Set<string>>() // serialized entries by name, to find duplicates
  for (const [index, item] of (Array.isArray(value) ? value : [value]).entries()) {
    const where = Array.isArray(value) ? `${path}[${index}]` : path
    if (!isRecord(item)) throw new Refusal(`${where} is ${kindOf(item)}; an entry is an object.`)
    const entry = readEntry(item, where, options, warn)
    const earlier = known.get(entry.name.toLowerCase())
    if (earlier?.has(JSON.stringify(entry))) {
      warn(where, `It repeats the entry ${quote(entry.name)} and was left out.`)
      continue
    }
    if (earlier !== undefined)
      warn(at(where, 'name'), `Another entry is called ${quote(entry.name)} too, and differs; both are kept.`)
    known.set(entry.name.toLowerCase(), (earlier ?? new Set()).add(JSON.stringify(entry)))
    entries.push(entry)
  }
  return entries
}

function readEntry(entry: JsonRecord, path: string, options: EntryOptions, warn: Warn): OAuthEntry {
  const textOf = (name: string) => textMember(entry, name, path, warn)
  const name = textOf('name')
  if (name === undefined) throw new Refusal(`${path}.name is missing; it is the name the tool asks for.`)
  const version = member(entry, 'version', path, warn)
  if (version !== undefined && version !== '2.0' && version !== 2)
    throw new Refusal(`${path}.version is ${quote(version)}; only OAuth "2.0" is supported.`)
  // whose tokens go where is decided by administrators, never by what describes a tool
  if (member(entry, 'grant', path, warn) !== undefined)
    throw new Refusal(
      `${path}.grant is not read from tools: only an administrator says how a provider's tokens are obtained, by oauth2.grant of its entry.`,
    )
  const responseType = textOf('responseType')
  if (responseType !== undefined && responseType !== 'code')
    throw new Refusal(
      `${path}.responseType is ${quote(responseType)}; only "code" is safe to use (RFC 9700).`,
    )

  const [clientId, clientSecret, redirectUrl] = [
    textOf('clientId'),
    textOf('clientSecret'),
    textOf('redirectUrl'),
  ]
  const scopes = readScopes(member(entry, 'scopes', path, warn), `${path}.scopes`, warn)
  const pkce = readPkce(textOf('pkceType'), `${path}.pkceType`)
  const issuer = readIssuer(textOf('issuer'), `${path}.issuer`, options)
  const [authorizationUrl, tokenUrl] = [textOf('authorizationUrl'), textOf('tokenUrl')]
  const authMethod = readAuthHeader(textOf('requestTokenAuthHeader'), `${path}.requestTokenAuthHeader`)
  const facts: EntryMembers = {
    name,
    scopes,
    ...readScopeMeaning(entry, path, warn),
    pkce,
    authorizationUrl: readEndpoint(authorizationUrl ?? issuer, `${path}.authorizationUrl`, options),
    tokenUrl: readEndpoint(tokenUrl ?? issuer, `${path}.tokenUrl`, options),
    authMethod,
    contentType: readContentType(textOf('requestTokenContentType'), `${path}.requestTokenContentType`),
    offlineAccess: readFlag(member(entry, 'refreshToken', path, warn), `${path}.refreshToken`, warn),
    tokenTypes: readTokenTypes(member(entry, 'tokenTypes', path, warn), `${path}.tokenTypes`),
    isPublic: clientId !== undefined && clientSecret === undefined,
  }
  const described = providerOf(facts)
  const { filled } = described
  const provider: Provider =
    issuer === undefined
      ? described.provider
      : {
          ...described.provider,
          issuer,
          fromIssuer: leftToIssuer({ authorizationUrl, tokenUrl, pkce, authMethod }),
        }
  if (facts.isPublic && provider.pkce === 'plain' && provider.publicClients !== true)
    throw new Refusal(
      `${path}.pkceType is "plain", and there is a client id but no secret: a client without a secret is public and needs "S256". Set the pkceType to "S256"; give the clientSecret only if the client has one.`,
    )
  if (filled.length > 0)
    warn(path, `Settings that it omits come from the catalogue entry of this provider: ${filled.join('; ')}.`)
  warnOfHosts(facts, path, warn)
  return { name, provider, clientId, clientSecret, scopes, redirectUrl }
}

/** An issuer identifier, unchanged. Its metadata supplies what the file omits (RFC 8414, OpenID Connect Discovery). */
function readIssuer(value: string | undefined, path: string, options: EntryOptions): string | undefined {
  if (value === undefined) return undefined
  if (value.includes('?')) throw new Refusal(`${path} has a query; an issuer has none (RFC 8414 section 2).`)
  return readEndpoint(value, path, options)
}

/** The settings that the issuer's metadata decides, because the entry omits or cannot express them. */
function leftToIssuer(
  given: Readonly<Record<'authorizationUrl' | 'tokenUrl' | 'pkce' | 'authMethod', unknown>>,
) {
  const left: IssuerDecides[] = ['revocation', 'iss', 'end_session']
  if (given.authorizationUrl === undefined || given.tokenUrl === undefined)
    left.push('user_info', 'introspection')
  if (given.authorizationUrl === undefined) left.push('authorization', 'pushed_authorization')
  if (given.tokenUrl === undefined) left.push('token', 'refresh')
  if (given.tokenUrl === undefined && given.authMethod === undefined) left.push('client_authentication')
  if (given.pkce === undefined) left.push('pkce')
  return left
}

/** Reads scopes; every entry is kept as one scope on the wire, even if it contains spaces. */
function readScopes(value: unknown, path: string, warn: Warn): readonly string[] {
  if (value === undefined) return []
  if (typeof value === 'string') {
    warn(path, 'It is a string; it was read as a list of that one entry.')
    return [value]
  }
  if (!Array.isArray(value)) throw new Refusal(`${path} is ${kindOf(value)}; write it as a list of strings.`)
  const bad = value.findIndex((scope) => !isAbsent(scope) && typeof scope !== 'string')
  if (bad >= 0) throw new Refusal(`${path}[${bad}] is ${kindOf(value[bad])}; a scope is a string.`)
  return value.filter((scope) => !isAbsent(scope))
}

/**
 * Reads which scopes include others and which have a second name: `{"repo": ["public_repo"]}`, `{"email":
 * "https://…"}`.
 */
function readScopeMeaning(entry: JsonRecord, path: string, warn: Warn): ScopeMeaning {
  const implies = member(entry, 'scopeImplies', path, warn)
  const aliases = member(entry, 'scopeAliases', path, warn)
  const isScopes = (value: unknown) =>
    Array.isArray(value) && value.every((scope) => typeof scope === 'string')
  if (implies !== undefined && !(isRecord(implies) && Object.values(implies).every(isScopes)))
    throw new Refusal(
      `${path}.scopeImplies must be an object of lists of scopes, by the scope that includes them.`,
    )
  if (
    aliases !== undefined &&
    !(isRecord(aliases) && Object.values(aliases).every((alias) => typeof alias === 'string'))
  )
    throw new Refusal(`${path}.scopeAliases must be an object of scopes, by the scope that is asked for.`)
  return {
    // checked above
    ...(implies !== undefined && { scopeImplies: implies as Record<string, string[]> }),
    ...(aliases !== undefined && { scopeAliases: aliases as Record<string, string> }),
  }
}

/** Reads the PKCE method (RFC 7636 section 4.3). An unknown method is refused, never replaced. */
function readPkce(value: string | undefined, path: string): 'S256' | 'plain' | undefined {
  switch (value?.trim().toLowerCase()) {
    case undefined:
      return undefined
    case 's256':
      return 'S256'
    case 'plain':
      return 'plain'
    default:
      throw new Refusal(`${path} is ${quote(value)}; write "S256" or "plain", or leave it out for "S256".`)
  }
}

/** Reads the client authentication method of the token endpoint (RFC 6749 section 2.3.1). */
function readAuthHeader(value: string | undefined, path: string): EntryMembers['authMethod'] {
  if (value === undefined) return undefined
  const method = value.trim().toLowerCase().replaceAll('-', '_')
  if (method === 'basic') return 'client_secret_basic'
  if (method === 'basic_unencoded') return 'client_secret_basic_unencoded'
  throw new Refusal(
    `${path} is ${quote(value)}; write "basic" ("basic_unencoded" for a server that does not decode), or leave it out to send the secret in the body.`,
  )
}

/** Reads the content type of token requests: a form (RFC 6749 section 4.1.3) unless the file says JSON. */
function readContentType(value: string | undefined, path: string): EntryMembers['contentType'] {
  const type = value?.split(';')[0]?.trim().toLowerCase()
  if (type === undefined || type === 'application/x-www-form-urlencoded' || type === 'application/json')
    return type
  throw new Refusal(
    `${path} is ${quote(value)}; write "application/x-www-form-urlencoded" or "application/json", or leave it out for the first.`,
  )
}

/** Reads `"true"` or `true`. The warning does not quote other values, since they may be refresh tokens. */
function readFlag(value: unknown, path: string, warn: Warn): boolean | undefined {
  if (value === undefined) return undefined
  const flag = asText(value).trim().toLowerCase()
  if (flag !== 'true' && flag !== 'false')
    warn(path, 'It is neither "true" nor "false"; no refresh token is asked for.')
  return flag === 'true'
}

function readTokenTypes(value: unknown, path: string): readonly string[] | undefined {
  if (value === undefined) return undefined
  const types = typeof value === 'string' ? [value] : value
  if (!Array.isArray(types) || types.length > 10 || !types.every((type) => typeof type === 'string'))
    throw new Refusal(`${path} is ${kindOf(value)}; write it as a list of at most ten strings.`)
  return types.map((type: string) => type.trim().toLowerCase())
}

/**
 * Warns if the token endpoint, which receives codes and the client secret, is on another host than the authorization
 * page.
 */
function warnOfHosts({ authorizationUrl, tokenUrl }: EntryMembers, path: string, warn: Warn): void {
  const [authorization, token] = [new URL(authorizationUrl).host, new URL(tokenUrl).host]
  if (authorization === token || findBuiltInByEndpoints(authorizationUrl, tokenUrl) !== undefined) return
  warn(
    `${path}.tokenUrl`,
    `It is on another host (${token}) than the authorizationUrl (${authorization}), and not that of a known provider. Codes, tokens and the client secret go there: check that this is right.`,
  )
}

/**
 * Validates an endpoint (RFC 6749 section 3) and returns it unchanged. Refusals do not quote the URL, which may
 * contain a password.
 */
function readEndpoint(value: string | undefined, path: string, options: EntryOptions): string {
  if (value === undefined) throw new Refusal(`${path} is missing; give the provider's URL.`)
  const isWritten = /^https?:\/\//i.test(value) && !/[\s\p{Cc}\\]/u.test(value)
  const url = isWritten ? URL.parse(value) : null
  if (url === null) throw new Refusal(`${path} is not an https URL; give one that starts with "https://".`)
  if (/^https?:\/\/[^/?#]*@/i.test(value))
    throw new Refusal(`${path} holds a user name or password; give the URL without them.`)
  if (value.includes('#'))
    throw new Refusal(`${path} has a fragment; remove "#" and what follows (RFC 6749 section 3.1).`)
  if (url.protocol !== 'https:' && !options.allowsHttp(url))
    throw new Refusal(
      `${path} uses plain http; use https, or have an operator list the host in GATEPASS_ALLOWED_HOSTS.`,
    )
  if (!mayBeReached(url, options.allowsHttp))
    throw new Refusal(
      `${path} names a host that may not be reached from here (${url.host}); use a public one, or have an operator list it in GATEPASS_ALLOWED_HOSTS.`,
    )
  return value
}
