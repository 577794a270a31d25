import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { unionOfScopes } from '../../src/domain/scopes.ts'
import type { Sealed } from '../../src/domain/sealed.ts'
import { parseProviderCreate, providerToWire } from '../../src/operations/providers/provider-wire.ts'
import { isApiHost, parseApiHost } from '../../src/providers/api-host.ts'
import { SCOPES_TEMPLATE } from '../../src/providers/catalogue/built-in-provider.ts'
import { findLogo } from '../../src/providers/catalogue/logos.ts'
import { builtIn, withOfflineAccess } from '../../src/providers/catalogue/registry.ts'
import { describeScopes, englishSentence } from '../../src/providers/catalogue/scope-sentences.ts'
import { definitionJsonSchema } from '../../src/providers/definition/json-schema.ts'
import { writeMembers } from '../../src/providers/definition/member.ts'
import { OAUTH2_MEMBERS } from '../../src/providers/definition/oauth2-settings.ts'
import { type Definition, readDefinition } from '../../src/providers/definition/read-definition.ts'
import { endpointsOf, type Provider } from '../../src/providers/provider.ts'
import { authorizationRequestOf, ownScopes } from '../../src/providers/provider-request.ts'

/** A definition of the catalogue, and the JSON of its file. */
export interface Shipped {
  readonly id: string
  readonly json: {
    readonly id: string
    readonly oauth2: Readonly<Record<string, unknown>>
    readonly other_endpoints?: Readonly<Record<string, readonly string[]>>
    readonly shares_endpoints_with?: string
  }
  readonly definition: Definition
}

/** What each definition must keep to. The expectations are soft, so that one test lists every fault of a definition. */
export const DEFINITION_CHECKS: Readonly<Record<string, (one: Shipped) => void>> = {
  'says where its facts are from, and when they were checked'({ id, json, definition: { facts } }) {
    expect.soft(json.id).toBe(id)
    expect.soft(facts.category, 'category').toBeDefined()
    expect.soft(facts.sources?.length, 'sources').toBeGreaterThan(0)
    expect.soft(facts.verified, 'verified').toBeTypeOf('boolean')
    expect.soft(Number.isNaN(Date.parse(facts.checked ?? '')), `checked: ${facts.checked}`).toBe(false)
    expect.soft(json.oauth2).toHaveProperty('authorize_request.endpoint')
    expect.soft(json.oauth2).toHaveProperty('token_request.endpoint')
  },

  'has https URLs without fragments, and declares what they name'({ json, definition: { provider } }) {
    const declared = [...Object.keys(provider.variables ?? {}), 'client_id']
    const keptValues = Object.entries(provider.keptValues ?? {})
    const kept = keptValues.map(([name]) => name)
    const told = keptValues.flatMap(([name, { from }]) => (from === 'authorization_response' ? [name] : []))
    const namedAt = (path: string) => {
      if (path.startsWith('.oauth2.api')) return [...declared, ...kept]
      return path.startsWith('.oauth2.authorize_request') ? declared : [...declared, ...told]
    }
    for (const [path, url] of urlsIn({ oauth2: json.oauth2, other_endpoints: json.other_endpoints })) {
      // scopes may be URLs, and patterns look like some
      if (/scope|pattern|issuer/.test(path)) continue
      expect.soft(url, path).toMatch(/^https:\/\/[^#\s]+$/)
      for (const [, name] of url.matchAll(/\{\{(\w+)\}\}/g)) expect.soft(namedAt(path), path).toContain(name)
    }
    for (const url of Object.values(endpointsOf(provider))) expect.soft(url).toMatch(/^https:/)
  },

  'explains scopes, variables and its registration in words'({ definition: { facts, provider } }) {
    for (const [scope, meaning] of Object.entries(facts.scopes ?? {})) {
      expect.soft(scope).toMatch(/^[\x21\x23-\x5b\x5d-\x7e]+$/)
      const sentence = englishSentence(meaning)
      expect.soft(sentence, scope).toMatch(/^[A-Z][^<>]{2,}[^.]$/)
      // only how long the access lasts has no level
      const level = describeScopes({ [scope]: meaning }, [scope], 'en')[0]?.sentence?.level
      expect.soft(level === undefined, `${scope} has no level`).toBe(/^Keep this access/.test(sentence))
      if (level === 'read')
        expect
          .soft(sentence, scope)
          .toMatch(/^(?:See|Read|Know|Search|Download)(?!.*\b(?:and|or) (?:change|delete|send)\b)/)
    }
    for (const [name, { label, example, oneOf }] of Object.entries(provider.variables ?? {}))
      expect.soft([name, label && (example ?? oneOf?.[0])]).toEqual([name, expect.any(String)])
    if (facts.registration !== undefined) {
      expect.soft(facts.registration.steps?.length, 'registration.steps').toBeGreaterThan(0)
      expect
        .soft(Object.keys(facts.registration.fields ?? {}))
        .toEqual(['redirect_uri', 'client_id', 'client_secret'])
    }
    if (facts.logo !== undefined) expect.soft(findLogo(facts.logo)?.path).toMatch(/^[Mm][\d\w .,-]+$/)
  },

  'shares its endpoints with a definition that has them'({ json, definition: { endpoints } }) {
    if (json.shares_endpoints_with === undefined) return
    const other = builtIn(json.shares_endpoints_with)?.endpoints
    expect.soft(other?.authorization).toEqual(endpoints.authorization)
    expect.soft(other?.token).toEqual(endpoints.token)
  },

  'names hosts of its API in their own form'({ definition: { provider } }) {
    const { api } = provider
    if (api === undefined) return
    expect.soft(api.hosts.map(parseApiHost)).toEqual(api.hosts)
    expect.soft(api.hosts.length, 'hosts of the API').toBeGreaterThan(0)
    if (api.baseUrl !== undefined)
      expect.soft(isApiHost({ api }, new URL(api.baseUrl)), api.baseUrl).toBe(true)
  },

  'sends the scopes that the pages show, and has words for those that it adds'({ definition }) {
    const provider = withOfflineAccess(definition)
    const own = ownScopes(provider)
    const scopes = ['first.scope', 'second']
    expect.soft(new Set(sentScopes(provider, scopes))).toEqual(new Set(unionOfScopes(scopes, own)))
    const described = describeScopes(definition.facts.scopes, own, 'en')
    const without = described.filter(({ sentence }) => sentence === undefined).map(({ scope }) => scope)
    expect.soft(without, 'scopes without words').toEqual([])
  },

  'can be shown by the API and posted again'({ id, definition: { provider } }) {
    // the examples are taken for what an operator would give
    const values = Object.entries(provider.variables ?? {}).map(([name, { value }]) => [name, { value }])
    const oauth2 = { client_id: 'abc', variables: Object.fromEntries(values) }
    const { entry } = parseProviderCreate({ id, provider_id: id, oauth2 })
    const stored = {
      ...entry,
      uid: 'prov_1',
      projectId: 'proj_1',
      clientSecret: 'sealed' as Sealed,
      createdAt: 1000,
      updatedAt: 2000,
    }
    const { oauth2: shown } = providerToWire(stored, 'https://g.test/cb', false)
    const body = { id, provider_id: id, oauth2: { ...shown, client_id: 'abc', client_secret: undefined } }
    expect.soft(parseProviderCreate(body).entry.provider).toEqual(entry.provider)
  },

  'is the same when its definition is written and read, and fits the JSON Schema'(one) {
    const { provider, offlineAccess } = one.definition
    const written = writtenDefinition(one)
    const fits = fitsJsonSchema(JSON.parse(JSON.stringify(written)))
    expect.soft(fits, JSON.stringify(fitsJsonSchema.errors)).toBe(true)
    // a variable without a value is in no entry
    if (Object.values(provider.variables ?? {}).some(({ isExample }) => isExample === true)) return
    const read = readDefinition(written)
    const { params } = provider.authorizationRequest
    const placesNoScopes = !Object.values(params).some((template) => template.includes('{{scopes}}'))
    expect.soft(read.provider).toEqual({
      ...provider,
      authorizationRequest: {
        ...provider.authorizationRequest,
        // sent where scopes are requested, as without the parameter
        params: { ...params, ...(placesNoScopes && { scope: SCOPES_TEMPLATE }) },
      },
    })
    expect.soft(read.offlineAccess).toEqual(offlineAccess)
  },
}

/** All URLs of the file, by their place. */
function urlsIn(value: unknown, path = ''): (readonly [path: string, url: string])[] {
  if (typeof value === 'string') return /^https?:/i.test(value) ? [[path, value]] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => urlsIn(inner, `${path}.${name}`))
}

/** The scopes in the authorization request of a client of the provider. */
function sentScopes(provider: Provider, scopes: readonly string[]): string[] {
  const client = { clientId: 'c', clientSecret: 's' }
  const redirectUri = 'https://gatepass.example/callback'
  const { endpoint, params } = authorizationRequestOf({ provider, client, redirectUri }, scopes, [], {})
  const all = { ...Object.fromEntries(endpoint.searchParams), ...params }
  return Object.entries(all)
    .filter(([name]) => name.includes('scope'))
    .flatMap(([, value]) => value.split(provider.scopeSeparator ?? ' '))
}

/** The definition that the API's answer of the provider would be. */
function writtenDefinition({ id, definition: { provider, offlineAccess, endpoints } }: Shipped) {
  const spelled = Object.entries(endpoints).map(([role, addresses]) => [
    role,
    addresses.filter((address) => !/[{%]/.test(address)), // a pattern names variables, which these do not declare
  ])
  return {
    id,
    name: provider.displayName,
    oauth2: writeMembers(OAUTH2_MEMBERS, provider),
    ...(offlineAccess && { offline_access: offlineAccess }),
    other_endpoints: Object.fromEntries(spelled),
  }
}

const fitsJsonSchema = new Ajv2020({ strict: false, allErrors: true }).compile(
  definitionJsonSchema('https://gatepass.example/schemas/provider.json'),
)
