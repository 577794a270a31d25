import type { AuthorizationRequirement, ToolRequirements } from '../../domain/tool.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { asText, quote, Refusal } from '../read-json.ts'
import { type OpenapiDocument, resolved } from './openapi-document.ts'
import type { SchemeMapping } from './openapi-settings.ts'
import { type Credential, isCredentialHeader } from './request-plan.ts'

/** The requirements of a tool, and the place of each credential in its request. */
export interface ReadSecurity {
  readonly requirements: ToolRequirements
  readonly credentials: readonly (readonly Credential[])[]
}

interface Alternative {
  readonly requirements: readonly AuthorizationRequirement[]
  readonly credentials: readonly Credential[]
  /** Whether the settings or the document map each scheme to a provider or secret. */
  readonly isMapped: boolean
}

type Mappings = Readonly<Record<string, SchemeMapping>>

/**
 * Reads security requirements, of which any one must be met completely (OpenAPI 3.1 section 4.8.30). Mapped schemes
 * are preferred; if none is mapped, a scheme's name is taken as that of a provider or secret. When the tool runs, the
 * secrets that are set and the user's grants decide between alternatives; an empty one applies to users without grants.
 * Mappings with `always` apply where the document requires nothing. Throws `Refusal` when no alternative can be met.
 */
export function readSecurity(document: OpenapiDocument, security: unknown, mappings: Mappings): ReadSecurity {
  const listed = Array.isArray(security) ? security.filter(isRecord) : []
  const reasons: string[] = []
  const usable: Alternative[] = []
  for (const requirement of listed) {
    try {
      usable.push(toAlternative(document, requirement, mappings))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      reasons.push(error.message)
    }
  }
  if (listed.length > 0 && usable.length === 0) throw new Refusal(reasons.join(' '))
  const needing = usable.filter(({ credentials }) => credentials.length > 0)
  const mapped = needing.filter(({ isMapped }) => isMapped)
  const isOptional = listed.length === 0 || needing.length < usable.length
  const always = Object.entries(mappings).filter(([, mapping]) => mapping.always === true)
  if (isOptional && mapped.length === 0 && always.length > 0)
    return readConfiguredSecurity(document, Object.fromEntries(always))
  const chosen = mapped.length > 0 ? mapped : needing
  return toSecurity(withoutLaterSecrets(chosen), isOptional && always.length === 0)
}

/**
 * Leaves out the alternatives with secrets that come after one of tokens alone: a secret is the same for all users, so
 * it would be used in place of every user's consent.
 */
function withoutLaterSecrets(alternatives: readonly Alternative[]): readonly Alternative[] {
  const tokensAlone = alternatives.findIndex((alternative) => secretsOf(alternative).length === 0)
  return alternatives.filter(
    (alternative, index) => index < tokensAlone || tokensAlone < 0 || secretsOf(alternative).length === 0,
  )
}

function toSecurity(alternatives: readonly Alternative[], isOptional: boolean): ReadSecurity {
  const [first] = alternatives
  if (first === undefined) return NO_SECURITY
  // an operator who names a secret alone wants it sent, so it must be set
  const withEmpty = isOptional && alternatives.some((alternative) => secretsOf(alternative).length === 0)
  const all = withEmpty ? [...alternatives, NOTHING] : alternatives
  const alternativeSecrets = all.map(secretsOf)
  const secrets = [...new Set(alternativeSecrets.flat())]
  const credentials = all.map((alternative) => alternative.credentials)
  if (all.length === 1)
    return { requirements: { authorization: first.requirements, secrets, metadata: [] }, credentials }
  return {
    requirements: {
      authorization: [],
      alternatives: all.map(({ requirements }) => requirements),
      ...(secrets.length > 0 && { alternativeSecrets }),
      secrets,
      metadata: [],
    },
    credentials,
  }
}

/**
 * Reads the credentials that the operator configured for a document that declares no security. Every request gets all
 * of them. A name that is no scheme of the document means `Authorization: Bearer`, or the header of its mapping.
 * Throws `Refusal`.
 */
export function readConfiguredSecurity(document: OpenapiDocument, mappings: Mappings): ReadSecurity {
  const schemes = securitySchemesOf(document)
  const read = Object.entries(mappings).map(([name, mapping]) =>
    Object.hasOwn(schemes, name) && mapping.header === undefined
      ? readScheme(name, resolved(document, schemes[name], `The security scheme ${quote(name)}`), [], mapping)
      : configuredScheme(mapping),
  )
  const { requirements, credentials } = combined(read)
  const secrets = credentials.flatMap((credential) => (credential.kind === 'secret' ? [credential.key] : []))
  return {
    requirements: { authorization: requirements, secrets: [...new Set(secrets)], metadata: [] },
    credentials: [credentials],
  }
}

function configuredScheme(mapping: SchemeMapping): ReadScheme {
  const header = mapping.header?.toLowerCase() ?? 'authorization'
  if (!isCredentialHeader(header)) throw new Refusal(`The header ${quote(header)} cannot carry a credential.`)
  if (!('secret' in mapping)) return { ...token(mapping, mapping.scopes ?? [], header), isMapped: true }
  const scheme = header === 'authorization' ? 'bearer' : 'plain'
  return {
    credential: { kind: 'secret', key: mapping.secret, in: 'header', name: header, scheme },
    isMapped: true,
  }
}

export function securitySchemesOf({ root: { components } }: OpenapiDocument): JsonRecord {
  return isRecord(components) && isRecord(components.securitySchemes) ? components.securitySchemes : {}
}

const NOTHING: Alternative = { requirements: [], credentials: [], isMapped: true }

const NO_SECURITY: ReadSecurity = {
  requirements: { authorization: [], secrets: [], metadata: [] },
  credentials: [],
}

function secretsOf({ credentials }: Alternative): string[] {
  return [
    ...new Set(credentials.flatMap((credential) => (credential.kind === 'secret' ? [credential.key] : []))),
  ]
}

function toAlternative(document: OpenapiDocument, alternative: JsonRecord, mappings: Mappings): Alternative {
  const schemes = securitySchemesOf(document)
  return combined(
    Object.entries(alternative).map(([name, asked]) => {
      const scheme = resolved(document, ownMember(schemes, name), `The security scheme ${quote(name)}`)
      return readScheme(
        name,
        scheme,
        Array.isArray(asked) ? asked.map(asText) : [],
        ownMember(mappings, name),
      )
    }),
  )
}

/** Combines schemes that are needed together. Throws `Refusal` if two occupy the same place. */
function combined(read: readonly ReadScheme[]): Alternative {
  const credentials = read.map(({ credential }) => credential)
  const places = credentials.map((credential) =>
    credential.kind === 'token' ? `header ${credential.header}` : `${credential.in} ${credential.name}`,
  )
  if (new Set(places).size < places.length)
    throw new Refusal(`It requires two credentials in one place (${places.join(', ')}).`)
  return {
    credentials,
    requirements: read.flatMap(({ requirement }) => (requirement ? [requirement] : [])),
    isMapped: read.every((scheme) => scheme.isMapped),
  }
}

/** Own members only: the document may use names such as `constructor`. */
function ownMember<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

interface ReadScheme {
  readonly credential: Credential
  readonly requirement?: AuthorizationRequirement
  readonly isMapped: boolean
}

function readScheme(
  name: string,
  scheme: JsonRecord,
  asked: readonly string[],
  mapping: SchemeMapping | undefined,
): ReadScheme {
  const { type, 'x-gatepass-provider': annotated } = scheme
  const http = type === 'http' ? asText(scheme.scheme).toLowerCase() : undefined
  const named = typeof annotated === 'string' && annotated !== '' ? annotated : undefined
  const isMapped = mapping !== undefined || named !== undefined
  const isOAuth = type === 'oauth2' || type === 'openIdConnect'
  const source =
    mapping ?? (isOAuth || http === 'bearer' || named ? { providerId: named ?? name } : { secret: name })
  if (isOAuth || http === 'bearer') {
    if ('secret' in source)
      return {
        credential: { kind: 'secret', key: source.secret, ...AUTHORIZATION, scheme: 'bearer' },
        isMapped,
      }
    // OpenAPI 3.1 lets a bearer scheme list roles, which are not scopes
    const scopes = [...new Set([...(isOAuth ? asked : []), ...(source.scopes ?? [])])]
    return { ...token(source, scopes, 'authorization'), isMapped }
  }
  if (http === 'basic' && 'secret' in source)
    return { credential: { kind: 'secret', key: source.secret, ...AUTHORIZATION, scheme: 'basic' }, isMapped }
  if (type !== 'apiKey' || typeof scheme.name !== 'string')
    throw new Refusal(
      `Its security scheme ${quote(name)} is of a kind that is not supported (${quote(http || type)}).`,
    )
  const place = scheme.in
  if (place !== 'header' && place !== 'query')
    throw new Refusal(`Its security scheme ${quote(name)} is in ${quote(place)}, which is not supported.`)
  if (place === 'header' && !isCredentialHeader(scheme.name))
    throw new Refusal(`The header ${quote(scheme.name)} cannot carry a credential.`)
  if ('secret' in source) {
    const header = place === 'header' ? scheme.name.toLowerCase() : scheme.name
    return {
      credential: { kind: 'secret', key: source.secret, in: place, name: header, scheme: 'plain' },
      isMapped,
    }
  }
  if (place === 'query')
    throw new Refusal(
      `Its security scheme ${quote(name)} is in the query, but a user’s token is never put into a URL.`,
    )
  return { ...token(source, source.scopes ?? [], scheme.name.toLowerCase()), isMapped }
}

const AUTHORIZATION = { in: 'header', name: 'authorization' } as const

function token(
  { id, providerId }: Exclude<SchemeMapping, { readonly secret: string }>,
  scopes: readonly string[],
  header: string,
): Pick<ReadScheme, 'credential' | 'requirement'> {
  const requirement = { ...(id !== undefined && { id }), ...(providerId !== undefined && { providerId }) }
  return { credential: { kind: 'token', requirement, header }, requirement: { ...requirement, scopes } }
}
