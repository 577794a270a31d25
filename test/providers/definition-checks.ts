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
import { writeDefined } from '../../src/providers/definition/provider-types.ts'
import { type Definition, readDefinition } from '../../src/providers/definition/read-definition.ts'
import { type Provider, typeOf } from '../../src/providers/provider.ts'
import { authorizationRequestIn, endpointsOf } from '../../src/providers/provider-endpoints.ts'
import { hasRedirect, isDeviceGrant, isInstalled, isUserless } from '../../src/providers/provider-grant.ts'
import { authorizationRequestOf, ownScopes } from '../../src/providers/provider-request.ts'

/** A definition of the catalogue, and the JSON of its file. */
export interface Shipped {
  readonly id: string
  readonly json: {
    readonly id: string
    readonly oauth2?: Readonly<Record<string, unknown>>
    readonly oauth1?: Readonly<Record<string, unknown>>
    readonly credentials?: Readonly<Record<string, unknown>>
    readonly second_way_of?: string
    readonly other_endpoints?: Readonly<Record<string, readonly string[]>>
    readonly shares_endpoints_with?: string
  }
  readonly definition: Definition
}

/** What each definition must keep to. The expectations are soft, so that one test lists every fault of a definition. */
export const DEFINITION_CHECKS: Readonly<Record<string, (one: Shipped) => void>> = {
  'says where its facts are from, and when they were checked'({ id, json, definition }) {
    const { facts } = definition
    expect.soft(json.id).toBe(id)
    expect.soft(facts.category, 'category').toBeDefined()
    expect.soft(facts.sources?.length, 'sources').toBeGreaterThan(0)
    expect.soft(facts.verified, 'verified').toBeTypeOf('boolean')
    expect.soft(Number.isNaN(Date.parse(facts.checked ?? '')), `checked: ${facts.checked}`).toBe(false)
    if (json.credentials !== undefined) return
    const server = json.oauth2 ?? json.oauth1
    expect.soft(server).toHaveProperty('token_request.endpoint')
    if (hasRedirect(definition.provider)) expect.soft(server).toHaveProperty('authorize_request.endpoint')
  },

  'asks for credentials in words, and sends them to one site'({ json, definition: { provider } }) {
    const { credentials, testRequest, api } = provider
    if (credentials === undefined) return
    for (const [name, { label, secret, oneOf }] of Object.entries(credentials.fields)) {
      expect.soft(label, `${name} has a label`).toMatch(/^[A-Z]/)
      // patterns of scanners of leaked secrets change with the form of keys, so they must not refuse one
      if (secret) expect.soft(credentials.fields[name]).not.toHaveProperty('pattern')
      if (oneOf !== undefined) expect.soft(oneOf.length, name).toBeGreaterThan(1)
    }
    const base = String(api?.baseUrlTemplate ?? api?.baseUrl)
    expect.soft(base).toMatch(/^https:/)
    if (testRequest !== undefined) {
      expect.soft(testRequest.method, 'the test changes nothing').toBe('GET')
      expect.soft(siteOf(testRequest.endpointTemplate ?? testRequest.endpoint)).toBe(siteOf(base))
    }
  },

  'is named after the service to which it is a second way'({ json, definition: { provider, facts } }) {
    const { second_way_of: other } = json
    if (other === undefined) return
    const first = builtIn(other)
    expect.soft(first?.facts.category).toBe(facts.category)
    expect.soft(first?.facts.logo).toBe(facts.logo)
    expect.soft(first?.facts.second_way_of, 'the first way is no second one').toBeUndefined()
    const way = json.id.slice(other.length)
    if (isUserless(provider)) return expect.soft(way).toMatch(/^-[a-z]/)
    if (isDeviceGrant(provider)) return expect.soft(way).toBe('-device')
    if (isInstalled(provider)) return expect.soft(way).toBe('-app')
    if (provider.oauth1 !== undefined) return expect.soft(way).toBe('-oauth1')
    expect.soft(way).toBe('-api-key')
    expect.soft(first && typeOf(first.provider)).toBe('oauth2')
  },

  'has an API for tokens that no user approves'({ definition: { provider } }) {
    if (!isUserless(provider)) return
    expect.soft(String(provider.api?.baseUrlTemplate ?? provider.api?.baseUrl)).toMatch(/^(?:https:|\{\{)/)
    expect.soft(provider.impersonation, 'only an administrator says who is impersonated').toBeUndefined()
  },

  'has https URLs without fragments, and declares what they name'({ json, definition: { provider } }) {
    const declared = [...Object.keys(provider.variables ?? {}), ...(json.oauth2 ? ['client_id'] : [])]
    const keptValues = Object.entries(provider.keptValues ?? {})
    const kept = keptValues.map(([name]) => name)
    const told = keptValues.flatMap(([name, { from }]) => (from === 'authorization_response' ? [name] : []))
    const namedAt = (path: string) => {
      if (path.startsWith('.oauth2.api')) return [...declared, ...kept]
      if (path.startsWith('.oauth2.installation_token_request')) return [...declared, 'installation_id']
      return path.startsWith('.oauth2.authorize_request') ? declared : [...declared, ...told]
    }
    for (const [path, url] of urlsIn({
      oauth2: json.oauth2,
      oauth1: json.oauth1,
      credentials: json.credentials,
      other_endpoints: json.other_endpoints,
    })) {
      // scopes may be URLs, patterns look like some, and pages may be named by a fragment
      if (/scope|pattern|issuer|help_url/.test(path)) continue
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
    for (const [name, { label, example, oneOf, isText }] of Object.entries(provider.variables ?? {}))
      if (isText !== true)
        expect.soft([name, label && (example ?? oneOf?.[0])]).toEqual([name, expect.any(String)])
    if (facts.registration !== undefined) {
      expect.soft(facts.registration.steps?.length, 'registration.steps').toBeGreaterThan(0)
      expect
        .soft(Object.keys(facts.registration.fields ?? {}))
        .toEqual([...(hasRedirect(provider) ? ['redirect_uri'] : []), 'client_id', 'client_secret'])
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
    if (typeOf(definition.provider) !== 'oauth2' || !hasRedirect(definition.provider)) return
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
    const type = typeOf(provider)
    const client = type === 'credentials' ? {} : { client_id: 'abc' }
    const values = Object.entries(provider.variables ?? {}).flatMap(([name, { value, askUser }]) =>
      type === 'credentials' && askUser ? [] : [[name, { value }]],
    )
    const settings = { ...client, ...(values.length > 0 && { variables: Object.fromEntries(values) }) }
    const { entry } = parseProviderCreate({ id, provider_id: id, [type]: settings })
    const stored = {
      ...entry,
      uid: 'prov_1',
      projectId: 'proj_1',
      clientSecret: 'sealed' as Sealed,
      createdAt: 1000,
      updatedAt: 2000,
    }
    const shown = providerToWire(stored, 'https://g.test/cb', false)[type]
    const withoutSecret = type === 'credentials' ? {} : { client_secret: undefined }
    const body = { id, provider_id: id, [type]: { ...shown, ...client, ...withoutSecret } }
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
    if (typeOf(provider) !== 'oauth2' || !hasRedirect(provider))
      return expect.soft(read.provider).toEqual(provider)
    const { params } = authorizationRequestIn(provider)
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

/** The last two labels of the URL's host. */
function siteOf(url: string): string {
  return (/^https:\/\/([^/]+)/.exec(url)?.[1] ?? '').split('.').slice(-2).join('.')
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
    owner: provider.owner,
    ...writeDefined(provider),
    ...(offlineAccess && { offline_access: offlineAccess }),
    other_endpoints: Object.fromEntries(spelled),
  }
}

const fitsJsonSchema = new Ajv2020({ strict: false, allErrors: true }).compile(
  definitionJsonSchema('https://gatepass.example/schemas/provider.json'),
)
