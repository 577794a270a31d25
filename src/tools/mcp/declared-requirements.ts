import type { AuthorizationRequirement, ToolRequirements } from '../../domain/tool.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { isAbsent, kindOf, list, quote, Refusal, record } from '../read-json.ts'

const MAX_ALTERNATIVES = 20
const MAX_REQUIREMENTS = 20

/**
 * Reads the requirements that a tool declares in `_meta`: `arcade.requirements` as Arcade's servers write it, or
 * `securityRequirements` with `securitySchemes`. `undefined` if it declares none. Throws `Refusal`.
 */
export function declaredRequirements(meta: JsonRecord): ToolRequirements | undefined {
  const arcade = isRecord(meta.arcade) ? meta.arcade.requirements : undefined
  if (!isAbsent(arcade)) return readArcade(record(arcade, '_meta.arcade.requirements'))
  // a list of schemes (OpenAI's form) concerns the server's own authorization, which its 401 announces too
  if (isAbsent(meta.securityRequirements) || Array.isArray(meta.securitySchemes)) return undefined
  const schemes = isAbsent(meta.securitySchemes) ? {} : record(meta.securitySchemes, '_meta.securitySchemes')
  const listed = list(meta.securityRequirements, '_meta.securityRequirements', MAX_ALTERNATIVES)
  const readings = listed.map((item, i) => readAlternative(item, schemes, `_meta.securityRequirements[${i}]`))
  const alternatives = readings.flatMap((reading) => (typeof reading === 'string' ? [] : [reading]))
  const [only, ...others] = alternatives
  if (only === undefined && readings.length > 0)
    throw new Refusal(`${readings[0]} Declare its needs in mcp.requirements.tools.`)
  return {
    authorization: others.length === 0 ? (only ?? []) : [],
    ...(others.length > 0 && { alternatives }),
    secrets: [],
    metadata: [],
  }
}

/**
 * Reads `{github: ["repo"]}` or `[{scheme: "github", scopes: ["repo"]}]`; returns the reason if the requirement cannot
 * be met.
 */
function readAlternative(
  value: unknown,
  schemes: JsonRecord,
  path: string,
): readonly AuthorizationRequirement[] | string {
  const pairs = Array.isArray(value)
    ? list(value, path, MAX_REQUIREMENTS).map((item, i) => {
        const { scheme, scopes } = record(item, `${path}[${i}]`)
        return [filledText(scheme, `${path}[${i}].scheme`), scopes] as const
      })
    : Object.entries(record(value, path))
  const requirements: AuthorizationRequirement[] = []
  for (const [name, scopes] of pairs) {
    const scheme = schemes[name]
    const { type, id, provider_id } = isRecord(scheme) ? scheme : {}
    if (type !== 'oauth2' && type !== 'openIdConnect')
      return `${path} wants the scheme ${quote(name)}, which is ${scheme === undefined ? 'not described' : `of the type ${quote(type)}`}; only oauth2 and openIdConnect are supported.`
    requirements.push({
      ...(typeof id === 'string' && id !== '' && { id }),
      providerId: typeof provider_id === 'string' && provider_id !== '' ? provider_id : name,
      scopes: scopesOf(scopes, `${path}.${name}`),
    })
  }
  return requirements
}

function readArcade({ authorization, secrets, metadata }: JsonRecord): ToolRequirements {
  const path = '_meta.arcade.requirements'
  const listed = isAbsent(authorization) ? [] : Array.isArray(authorization) ? authorization : [authorization]
  return {
    authorization: list(listed, `${path}.authorization`, MAX_REQUIREMENTS).map((item, i) => {
      const { id, provider_id, oauth2 } = record(item, `${path}.authorization[${i}]`)
      if (isAbsent(id) && isAbsent(provider_id))
        throw new Refusal(`${path}.authorization[${i}] names no provider; give its id or its provider_id.`)
      const { scopes } = isAbsent(oauth2) ? {} : record(oauth2, `${path}.authorization[${i}].oauth2`)
      return {
        ...(!isAbsent(id) && { id: filledText(id, `${path}.authorization[${i}].id`) }),
        ...(!isAbsent(provider_id) && {
          providerId: filledText(provider_id, `${path}.authorization[${i}].provider_id`),
        }),
        scopes: scopesOf(scopes, `${path}.authorization[${i}].oauth2.scopes`),
      }
    }),
    secrets: keysOf(secrets, `${path}.secrets`),
    metadata: keysOf(metadata, `${path}.metadata`),
  }
}

/** Reads `[{"key": "API_KEY"}]` or `["API_KEY"]`. */
function keysOf(value: unknown, path: string): string[] {
  const listed = list(value, path, MAX_REQUIREMENTS)
  return [...new Set(listed.map((item, i) => filledText(isRecord(item) ? item.key : item, `${path}[${i}]`)))]
}

function scopesOf(value: unknown, path: string): string[] {
  return list(value, path, 200).map((item, i) => filledText(item, `${path}[${i}]`))
}

function filledText(value: unknown, path: string): string {
  if (typeof value === 'string' && value !== '' && value.length <= 1000) return value
  throw new Refusal(`${path} is ${kindOf(value)}; it must be a string of 1 to 1000 characters.`)
}
