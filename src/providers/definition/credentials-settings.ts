import { z } from 'zod'
import type { AllowsHttp } from '../../egress/endpoint.ts'
import { USUAL_ACCOUNT } from '../catalogue/built-in-provider.ts'
import { fieldNames } from '../credentials.ts'
import { openDomainFault } from '../fixed-domain.ts'
import type { Provider, ProviderApi } from '../provider.ts'
import type { ResourceRequestBlock } from '../request-block.ts'
import { hasPlaceholder } from '../template.ts'
import { fillUrl, literalHost } from '../variables.ts'
import { ACCOUNT_SETTINGS, accountExpressions, checkAccount } from './account-settings.ts'
import { readApi, writeApi } from './api-hosts.ts'
import { fieldsAnswer, fieldsInput, readFields, variablesOfFields, writeFields } from './credential-fields.ts'
import { placeAnswer, placeInput, readPlace } from './credential-place.ts'
import { headersAnswer, headersInput } from './header-templates.ts'
import { readMembers, shapeOf, withoutUndefined, writeMembers } from './member.ts'
import { refuse } from './refuse.ts'
import { REQUEST_MEMBERS, type RequestRules } from './request-members.ts'
import { readVariables, variablesAnswer, variablesInput, writeVariables } from './url-variables.ts'

// `credentials` of an entry and of a definition file: what people type, where it is put, and how it is checked.

const { endpoint, method, params, headers, request_content_type, error_response } = REQUEST_MEMBERS
const { response_content_type, response_map, expiration_format } = REQUEST_MEMBERS

const TEST = { endpoint, method, params, headers, request_content_type, error_response }
const LOGIN = { ...TEST, response_content_type, response_map, expiration_format }

const inputs = {
  variables: variablesInput,
  fields: fieldsInput,
  place: placeInput,
  test_request: z
    .object(shapeOf(TEST, 'create'))
    .nullish()
    .meta({
      description:
        'The request that checks what was typed, before it is stored: a 2xx status means that the service takes it, 401 and 403 that it does not. It has the credential in its place; its own templates may name fields that are not secret. GET is the default.',
      example: { endpoint: 'https://{{domain}}.freshdesk.com/api/v2/agents/me' },
    }),
  token_request: z.object(shapeOf(LOGIN, 'create')).nullish().meta({
    description:
      'A login that makes a token with a limited life of the fields. Its `params` and `headers` name all fields; `response_map` finds `access_token` and `expires_in`. It is sent again when the token ends, and when the API refuses it.',
  }),
  unchecked: z.boolean().nullish().meta({
    description:
      'What could not be checked is stored too: there is no `test_request`, or its answer is neither 2xx nor a refusal.',
  }),
  in_url: z.boolean().nullish().meta({
    description:
      'Confirms that `place.query` or `place.path` puts the key into URLs. Gatepass neither logs such a URL nor answers it, and follows no redirect with it.',
  }),
  account: accountExpressions.nullish().meta({
    description:
      "Where the answer of `test_request` has the account's id and name, as expressions of a response map, the most trusted first. With `token_request` alone: in its answer.",
    example: { id: ['$.id'], name: ['$.contact.email'] },
  }),
  api: z
    .object({
      base_url: z.string().max(1000).nullish(),
      hosts: z.array(z.string().max(300)).max(50).optional(),
      headers: headersInput,
    })
    .meta({
      description:
        'Where the credential may be sent: the proxy, and tools that are HTTP requests. `hosts` are known where `base_url` names the domain. `headers` go with every request, such as a version.',
    }),
}

/** `credentials` of a definition file: the members that have to be there are required. */
export const credentialsDefined = z.object(inputs).meta({
  description:
    'What people type on the page of Gatepass instead of a consent at the provider: API keys, a user name with a password, several fields together.',
})

/** `credentials` of a request that creates or changes an entry. Members that are left out do not change. */
export const credentialsInput = z
  .object({
    ...inputs,
    fields: inputs.fields.optional(),
    place: inputs.place.optional(),
    api: inputs.api.optional(),
  })
  .meta({
    description:
      'Beyond Arcade, for `type` `credentials`: what people type on the page of Gatepass instead of a consent at the provider. Members that are left out do not change; those that are sent are replaced as a whole.',
  })

export const credentialsAnswer = z.object({
  variables: variablesAnswer,
  fields: fieldsAnswer,
  place: placeAnswer,
  test_request: z.object(shapeOf(TEST, 'answer')).optional(),
  token_request: z.object(shapeOf(LOGIN, 'answer')).optional(),
  unchecked: z.literal(true).optional(),
  in_url: z.literal(true).optional(),
  account: ACCOUNT_SETTINGS.account.answer,
  api: z.object({ base_url: z.string().optional(), hosts: z.array(z.string()), headers: headersAnswer }),
})

export type CredentialsInput = z.output<typeof credentialsInput>

interface Options {
  readonly allowsHttp?: AllowsHttp | undefined
  readonly isDefinition?: boolean
}

/** Reads an entry of the type `credentials`; members that `sent` leaves out are those of `base`. Throws `invalid_request`. */
export function readCredentials(
  displayName: string,
  sent: CredentialsInput,
  base: Provider | undefined,
  { allowsHttp = () => false, isDefinition = false }: Options,
): Provider {
  const within = 'credentials'
  const known = base?.credentials === undefined ? undefined : base
  const { variables: sentVariables, ...merged } = {
    ...(known && (writeCredentials(known) as CredentialsInput)), // an answer is valid input
    ...withoutUndefined(sent),
  }
  const fields = readFields(merged.fields ?? refuse(`${within}.fields`, 'is required'))
  const tests = merged.test_request ?? undefined
  const login = merged.token_request ?? undefined
  const api =
    sent.api === undefined && known?.api !== undefined
      ? withoutOwnHost(known.api)
      : (merged.api ?? refuse(`${within}.api`, 'is required'))
  const own = readVariables(sent.variables === undefined ? undefined : sentVariables, operatorsOf(known), {
    allowsHttp,
    isDefinition,
    path: `${within}.variables`,
  })
  for (const [name, { askUser }] of Object.entries(own ?? {})) {
    if (askUser) refuse(`${within}.variables.${name}.ask`, 'has to be operator: what users give is a field')
    if (Object.hasOwn(fields, name)) refuse(`${within}.variables.${name}`, 'is the name of a field')
  }
  const urls = [tests?.endpoint, login?.endpoint, api.base_url].filter((url) => url != null)
  const variables = { ...own, ...variablesOfFields(fields, urls) }
  const open = [...fieldNames({ fields }, { secret: false }), ...Object.keys(own ?? {})]
  const read = (members: typeof TEST | typeof LOGIN, rules: RequestRules, path: string, block: object) => ({
    ...readMembers(members, { ...block }, (read) => ({
      path: `${within}.${path}`,
      rules,
      allowsHttp,
      naming: { variables },
      params: ('params' in block && (block.params as Record<string, string>)) || {}, // checked by its schema
      headers: {},
      read,
    })),
    authMethod: 'none' as const, // no client takes part
  })
  const rules = { authMethods: [], mayBeGet: true } as const
  const testRequest = tests && read(TEST, { ...rules, placeholders: open }, 'test_request', tests)
  const tokenRequest =
    login &&
    read(LOGIN, { ...rules, placeholders: [...Object.keys(fields), ...open] }, 'token_request', {
      ...login,
      method: login.method ?? 'POST',
    })
  if (tokenRequest?.method === 'GET' && namesSecret(Object.values(tokenRequest.params ?? {}), fields))
    refuse(`${within}.token_request.method`, 'has to be POST: with GET a secret would be part of the URL')
  const isInUrl = merged.in_url === true
  const place = readPlace(merged.place ?? refuse(`${within}.place`, 'is required'), {
    fields,
    hasToken: login !== undefined,
    isInUrl,
  })
  const unchecked = merged.unchecked === true
  if (tests === undefined && login === undefined && !unchecked)
    refuse(
      `${within}.test_request`,
      'is required, since a wrong key would be stored; unchecked: true stores what cannot be checked',
    )
  checkAccount(`${within}.account`, merged.account)
  const provider = {
    displayName: base?.displayName ?? displayName,
    credentials: { fields, place, ...(unchecked && { unchecked }) },
    ...(Object.keys(variables).length > 0 && { variables }),
    ...(testRequest && { testRequest }),
    // the same login is sent again when its token ends
    ...(tokenRequest && { tokenRequest, refreshRequest: tokenRequest }),
    account: {
      id: merged.account?.id ?? USUAL_ACCOUNT.id,
      name: merged.account?.name ?? USUAL_ACCOUNT.name,
    },
    api: readApi({ ...api, hosts: api.hosts ?? hostsOf(api.base_url, variables) }, undefined, {
      allowsHttp,
      variables,
      read: {},
      within,
      placeholders: open,
    }),
    ...(base?.owner && { owner: base.owner }),
    // what only an authorization server needs
    pkce: 'none',
    scopeSeparator: ' ',
    tokenTypes: [],
    defaultScopes: [],
  } as const
  return provider as Provider // `readMembers` has read all members of the requests
}

export function writeCredentials(provider: Provider): z.input<typeof credentialsAnswer> {
  const { credentials, testRequest, tokenRequest, api } = provider
  if (credentials === undefined) throw new Error('the entry is of another type')
  const { fields, place, unchecked } = credentials
  const variables = operatorsOf(provider)?.variables ?? {}
  return withoutUndefined({
    variables: Object.keys(variables).length > 0 ? writeVariables(variables) : undefined,
    fields: writeFields(fields),
    place: { ...place } as z.input<typeof placeAnswer>, // one of its members
    test_request: testRequest && writeMembers(TEST, testRequest as ResourceRequestBlock),
    token_request: tokenRequest && writeMembers(LOGIN, tokenRequest as ResourceRequestBlock),
    unchecked,
    in_url: 'query' in place || 'path' in place ? (true as const) : undefined,
    account: ACCOUNT_SETTINGS.account.write?.(provider),
    api: writeApi(api ?? { hosts: [] }),
  })
}

/** `api` as it was sent: the host of the base URL follows from it again, since a variable may have changed. */
function withoutOwnHost(api: ProviderApi): z.output<typeof inputs.api> {
  const own = api.baseUrl === undefined ? undefined : new URL(api.baseUrl).host
  const { hosts, ...written } = writeApi(api)
  const others = hosts.filter((host) => host !== own)
  return { ...written, ...(others.length > 0 && { hosts: others }) }
}

/** The provider with the variables that administrators set: the others are written as fields. */
function operatorsOf(provider: Provider | undefined): Provider | undefined {
  if (provider?.variables === undefined) return provider
  const own = Object.entries(provider.variables).filter(([, { askUser }]) => !askUser)
  const { variables: _, ...rest } = provider
  return own.length === 0 ? rest : { ...rest, variables: Object.fromEntries(own) }
}

function namesSecret(templates: readonly string[], fields: Parameters<typeof writeFields>[0]): boolean {
  return fieldNames({ fields }, { secret: true }).some((name) =>
    templates.some((template) => hasPlaceholder(template, name)),
  )
}

/** The hosts of a base URL in which fields choose among hosts of one domain: `https://{{domain}}.freshdesk.com`. */
function hostsOf(
  baseUrl: string | null | undefined,
  variables: NonNullable<Provider['variables']>,
): string[] | undefined {
  const template = baseUrl == null ? '' : fillUrl(baseUrl, variables)
  const host = /^https?:\/\/([^/?#]+)/i.exec(template)?.[1]
  if (host === undefined || literalHost(template) !== undefined) return undefined
  const fault = openDomainFault(template, { variables })
  if (fault !== undefined) return refuse('credentials.api.base_url', fault)
  const named = Object.entries(variables).filter(([name]) => hasPlaceholder(host, name))
  const listed = named.reduce<string[]>(
    (hosts, [name, { oneOf }]) =>
      oneOf === undefined
        ? hosts
        : hosts.flatMap((text) => oneOf.map((value) => text.replaceAll(`{{${name}}}`, value))),
    [host],
  )
  const all = listed.map((text) =>
    text.includes('}}') ? `*${text.slice(text.lastIndexOf('}}') + 2)}` : text,
  )
  return [...new Set(all)].slice(0, 50)
}
