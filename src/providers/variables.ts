import { isAllowed } from './callback-members.ts'
import { REQUESTS_BY_ROLE } from './endpoint-role.ts'
import type { Provider, ProviderApi, ProviderVariable } from './provider.ts'
import { mapRequests, requestsOf } from './provider-endpoints.ts'
import type { RequestEndpoint } from './request-block.ts'
import { checkTemplate, fillTemplate } from './template.ts'

type Variables = Readonly<Record<string, ProviderVariable>>

/** A host (with a port), or one segment of a path: the value cannot end the part of the URL that it is put into. */
const PART_OF_URL = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-]))*(?::\d{1,5})?$/

export function isPartOfUrl(value: string): boolean {
  return PART_OF_URL.test(value)
}

/** Why the variable cannot have the value, which may be put into the entry's URLs; `undefined` when it can. */
export function variableFault({
  pattern,
  oneOf,
  value,
  isText,
  askUser,
}: ProviderVariable): string | undefined {
  if (isText === true && askUser === true) return undefined // its field decides, since it is part of no URL
  if (isText !== true && !isPartOfUrl(value))
    return 'is neither a host nor a single segment of a path (letters, digits, - . _)'
  if (isAllowed({ pattern, ...(oneOf && { oneOf }) }, value)) return undefined
  return oneOf === undefined ? `does not match ${pattern}` : `is not one of ${oneOf.join(', ')}`
}

/** The variables that each user is asked for. */
export function userVariables({ variables = {} }: Pick<Provider, 'variables'>): [string, ProviderVariable][] {
  return Object.entries(variables).filter(([, { askUser }]) => askUser === true)
}

/**
 * Why the text is no template of an endpoint, or `undefined`: its placeholders are variables, values of the authorization
 * response, `{{client_id}}` and `{{installation_id}}`, and all else is literal.
 */
export function urlTemplateFault(
  template: string,
  { variables = {}, keptValues = {} }: Pick<Provider, 'variables' | 'keptValues'>,
): string | undefined {
  const fromResponse = Object.keys(keptValues).filter(
    (name) => keptValues[name]?.from === 'authorization_response',
  )
  return checkTemplate(template, [...Object.keys(variables), ...fromResponse, 'client_id', 'installation_id'])
}

/** As `urlTemplateFault`, for the API's base URL, which may name every kept value, but not `{{client_id}}`. */
export function baseUrlTemplateFault(
  template: string,
  { variables = {}, keptValues = {} }: Pick<Provider, 'variables' | 'keptValues'>,
): string | undefined {
  return checkTemplate(template, [...Object.keys(variables), ...Object.keys(keptValues)])
}

/** The host of a URL that may still hold placeholders; `undefined` when they decide the host. */
export function literalHost(url: string): string | undefined {
  const origin = /^https?:\/\/[^/?#]+/i.exec(url)?.[0]
  return origin === undefined || origin.includes('{') || !URL.canParse(origin)
    ? undefined
    : new URL(origin).host
}

/** The end of the host after the variable, such as `.myshopify.com`, if the URL's host begins with the variable. */
export function literalHostEnd(template: string | undefined, variable: string): string | undefined {
  const start = `https://{{${variable}}}`
  if (template?.startsWith(start) !== true) return undefined
  return /^\.[a-z0-9.-]+(?=[/?#:]|$)/i.exec(template.slice(start.length))?.[0]
}

/** The values of the variables that the entry itself sets, by name. */
export function fixedValues({ variables = {} }: Pick<Provider, 'variables'>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, { value, askUser }]) =>
      askUser === true ? [] : [[name, value]],
    ),
  )
}

/** The URL of a template. Placeholders that are no variables of the entry stay, among them those that users are asked for. */
export function fillUrl(template: string, variables: Variables | undefined): string {
  return fillTemplate(template, fixedValues({ variables: variables ?? {} }))
}

/**
 * The URL of an endpoint, with examples in place of values that differ between connections. No request is sent to an
 * example: `withConnectionValues` fills in the values of the connection.
 */
export function fillEndpoint(
  template: string,
  { variables = {}, keptValues = {} }: Pick<Provider, 'variables' | 'keptValues'>,
): string {
  const examples = [
    ...Object.entries(keptValues).map(([name, { oneOf, example }]) => [name, oneOf?.[0] ?? example] as const),
    ...Object.entries(variables).map(([name, { value }]) => [name, value] as const),
  ]
  const known = examples.filter((example): example is readonly [string, string] => example[1] !== undefined)
  return fillTemplate(template, Object.fromEntries(known))
}

/** The templates of the provider's URLs, by their members on the wire. */
export function urlTemplatesOf(provider: Provider): readonly (readonly [path: string, template: string])[] {
  const requests = requestsOf(provider).map(
    ([role, { endpointTemplate }]) => [`${REQUESTS_BY_ROLE[role].wire}.endpoint`, endpointTemplate] as const,
  )
  const templates = [...requests, ['api.base_url', provider.api?.baseUrlTemplate] as const]
  return templates.flatMap(([path, template]) => (template === undefined ? [] : [[path, template] as const]))
}

/**
 * The provider with other values of its variables in its URLs. The values must be valid. A URL whose template names a
 * variable that no longer exists is left unchanged.
 */
export function withVariables(provider: Provider, variables: Variables | undefined): Provider {
  const filled = <Block extends RequestEndpoint>(block: Block): Block => {
    const { endpointTemplate } = block
    const { keptValues = {} } = provider
    const naming = { keptValues, ...(variables && { variables }) }
    return endpointTemplate === undefined || urlTemplateFault(endpointTemplate, naming) !== undefined
      ? block
      : { ...block, endpoint: fillEndpoint(endpointTemplate, naming) }
  }
  const { api } = provider
  return { ...mapRequests(provider, filled), ...(api && { api: apiWith(api, provider, variables) }) }
}

/** The host of the former base URL is dropped: tokens of one account must not be sent to the host of another. */
function apiWith(api: ProviderApi, before: Provider, variables: Variables | undefined): ProviderApi {
  const { baseUrlTemplate: template, hosts } = api
  const fault = template && baseUrlTemplateFault(template, { ...before, variables: variables ?? {} })
  if (template === undefined || fault !== undefined) return api
  const url = fillUrl(template, variables)
  const [former, host] = [literalHost(fillUrl(template, before.variables)), literalHost(url)]
  const others = hosts.filter((other) => other !== former)
  return {
    ...withoutBaseUrl(api),
    ...(isFilled(url) && { baseUrl: url }),
    hosts: [...new Set([...(host === undefined ? [] : [host]), ...others])],
  }
}

/**
 * The provider of a definition at the endpoints that these values are read from: they are written into its URLs, which no
 * longer name variables. A request, or the API, whose URL needs a value that is not among them is left out.
 */
export function withFixedVariables(definition: Provider, values: Readonly<Record<string, string>>): Provider {
  const { variables: declared, installationUri, installationHelpUri, ...rest } = definition
  if (declared === undefined) return definition
  const fixed = Object.fromEntries(
    Object.entries(declared).flatMap(([name, { isExample, askUser, ...variable }]) => {
      const read = Object.hasOwn(values, name) ? values[name] : undefined
      const value = read ?? (isExample || askUser ? undefined : variable.value)
      return value === undefined ? [] : [[name, { ...variable, value }] as const]
    }),
  )
  const fix = <Block extends RequestEndpoint>(block: Block): Block | undefined => {
    const { endpointTemplate, ...literal } = block
    if (endpointTemplate === undefined) return block
    const naming = { variables: fixed, keptValues: definition.keptValues ?? {} }
    if (urlTemplateFault(endpointTemplate, naming) !== undefined) return undefined
    const template = fillUrl(endpointTemplate, fixed)
    if (isFilled(template)) return { ...literal, endpoint: template } as Block
    return { ...block, endpointTemplate: template, endpoint: fillEndpoint(template, naming) }
  }
  const { api, ...requests } = mapRequests(rest, fix) // the values were read from the required ones
  const known = api && fixedApi(api, definition, fixed)
  const pages = Object.entries({ installationUri, installationHelpUri }).flatMap(([name, template]) => {
    const url = template && fillUrl(template, fixed)
    return url && isFilled(url) ? [[name, url] as const] : []
  })
  return { ...requests, ...Object.fromEntries(pages), ...(known && { api: known }) }
}

function fixedApi(api: ProviderApi, definition: Provider, fixed: Variables): ProviderApi | undefined {
  const { baseUrlTemplate: template } = api
  if (template === undefined) return api
  if (baseUrlTemplateFault(template, { ...definition, variables: fixed }) !== undefined) return undefined
  const { baseUrlTemplate: _, ...filled } = apiWith(api, definition, fixed)
  const url = fillUrl(template, fixed)
  return isFilled(url) ? filled : { ...filled, baseUrlTemplate: url }
}

function withoutBaseUrl({ baseUrl: _, ...api }: ProviderApi): ProviderApi {
  return api
}

/** Whether no placeholder is left. */
export function isFilled(url: string): boolean {
  return !url.includes('{{')
}

/** Whether the API's base URL depends on the connection's kept values. */
export function hasOwnBaseUrls({ api }: Pick<Provider, 'api'>): boolean {
  return api?.baseUrlTemplate !== undefined && api.baseUrl === undefined
}

/** The API's base URL for a connection with these kept values; `undefined` when there is none, or a value is missing. */
export function baseUrlOf(
  { api, variables }: Provider,
  kept: Readonly<Record<string, string>>,
): string | undefined {
  if (api?.baseUrlTemplate === undefined || api.baseUrl !== undefined) return api?.baseUrl
  const url = fillTemplate(fillUrl(api.baseUrlTemplate, variables), kept)
  return isFilled(url) ? url : undefined
}
