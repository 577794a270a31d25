import { z } from 'zod'
import { invalidMember } from '../../domain/errors.ts'
import { type AllowsHttp, endpointFault } from '../../egress/endpoint.ts'
import { collectFaults } from '../../parsing/collect-faults.ts'
import { anyOf, patternFault } from '../callback-members.ts'
import { openDomainFault } from '../fixed-domain.ts'
import type { Provider, ProviderVariable } from '../provider.ts'
import { checkTemplate, hasPlaceholder, PLACEHOLDERS } from '../template.ts'
import {
  baseUrlTemplateFault,
  fillEndpoint,
  fillUrl,
  isFilled,
  isPartOfUrl,
  literalHost,
  urlTemplateFault,
  urlTemplatesOf,
  variableFault,
} from '../variables.ts'
import { withoutUndefined } from './member.ts'
import { refuse } from './refuse.ts'

// The variables of an entry's URLs: a definition declares them, and the administrator who uses it sets their values.

type Variables = NonNullable<Provider['variables']>

/** The name of a variable, and of a field of typed credentials. */
export const variableName = z
  .string()
  .regex(/^[a-z][a-z_]{0,39}$/, 'lower-case letters and _')
  .refine((text) => !PLACEHOLDERS.includes(text), 'a name that no other placeholder has')
const input = z.object({
  value: z.string().max(255).optional(),
  pattern: z.string().optional(),
  one_of: z.array(z.string().min(1).max(255)).min(1).max(100).optional(),
  label: z.string().max(100).optional(),
  example: z.string().max(255).optional(),
  ask: z.enum(['operator', 'user']).optional(),
})

export const variablesInput = z
  .record(variableName, input.nullable())
  .refine((record) => Object.keys(record).length <= 10, 'at most 10 variables')
  .nullish()
  .meta({
    description:
      "Beyond Arcade: parts of the URLs that differ from one account or installation of the provider to the next. Endpoints and the API's base URL name them as `{{name}}`, in place of a host or a segment of a path. `pattern` is a regular expression that the whole value must match; `one_of` lists the only values in its place. With `ask` set to `user` each user enters a value at the consent, which is stored with the connection; it must not determine a domain. A change of an entry's own value requires new consents. A member that is left out is not changed; `null` removes a variable.",
    example: {
      subdomain: { label: 'Subdomain', pattern: '[a-z0-9-]{1,63}', example: 'acme', value: 'acme' },
    },
  })

const answer = z
  .object({
    value: z.string().optional(),
    ask: z.literal('user').optional(),
    pattern: z.string().optional(),
    one_of: z.array(z.string()).optional(),
    label: z.string().optional(),
    example: z.string().optional(),
  })
  .meta({ id: 'ProviderVariable' })

export const variablesAnswer = z.record(z.string(), answer).optional()

export function writeVariables(variables: Variables): z.input<typeof variablesAnswer> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, { pattern, oneOf, value, label, example, askUser }]) => [
      name,
      withoutUndefined({
        ...(askUser ? { ask: 'user' as const } : { value }),
        ...(oneOf ? { one_of: [...oneOf] } : { pattern }),
        label,
        example,
      }),
    ]),
  )
}

export interface VariableOptions {
  readonly allowsHttp: AllowsHttp
  /** In a definition a variable needs no value: an example takes its place until an entry is made. */
  readonly isDefinition: boolean
  /** The member on the wire that has the variables. */
  readonly path?: string
  /** The templates of URLs. A variable that none of them names may be any text of its pattern. Default: all are named. */
  readonly urls?: readonly string[]
}

/** The variables of the base with those of the request. Throws `invalid_request` if one has no allowed value. */
export function readVariables(
  sent: z.output<typeof variablesInput>,
  base: Provider | undefined,
  { allowsHttp, isDefinition, path: at = 'oauth2.variables', urls }: VariableOptions,
): Provider['variables'] {
  const before = new Map(Object.entries(sent === null ? {} : (base?.variables ?? {})))
  const said = new Map(Object.entries(sent ?? {}))
  const isUnset = [...before.values()].some(({ isExample }) => isExample)
  if (sent === undefined && !isUnset) return base?.variables
  const merged: Record<string, ProviderVariable> = {}
  const faults = collectFaults()
  for (const name of new Set([...before.keys(), ...said.keys()])) {
    const settings = said.get(name)
    if (settings === null) continue
    const path = `${at}.${name}`
    const isInUrl = urls === undefined || urls.some((url) => hasPlaceholder(url, name))
    const variable = faults.of(() =>
      readVariable(path, settings ?? {}, before.get(name), { isDefinition, isInUrl }),
    )
    if (variable !== undefined) merged[name] = variable
  }
  faults.throwIfAny()
  const variables = Object.keys(merged).length > 0 ? merged : undefined
  if (base !== undefined) checkUrlsOf(base, variables ?? {}, allowsHttp, at)
  return variables
}

function readVariable(
  path: string,
  sent: z.output<typeof input>,
  before: ProviderVariable | undefined,
  { isDefinition, isInUrl }: { readonly isDefinition: boolean; readonly isInUrl: boolean },
): ProviderVariable {
  const allowed = readAllowed(path, sent) ?? before
  if (allowed === undefined) return refuse(`${path}.pattern`, 'is required, or one_of with the only values')
  const { pattern, oneOf } = allowed
  const asksUser = sent.ask === undefined ? before?.askUser === true : sent.ask === 'user'
  if (asksUser && sent.value !== undefined)
    return refuse(`${path}.value`, 'is given by each user: leave it out, or leave out ask')
  const label = sent.label ?? before?.label
  const example = sent.example ?? before?.example
  const former = before?.isExample || before?.askUser ? undefined : before?.value
  const value = asksUser ? undefined : (sent.value ?? former)
  const wanted = [label, example && `such as ${example}`].filter(Boolean).join(', ')
  if (value === undefined && !asksUser && !isDefinition) return refuseMissing(`${path}.value`, wanted)
  const shown = value ?? example ?? oneOf?.[0]
  if (shown === undefined) return refuse(`${path}.example`, 'is required where there is no value')
  const isText = !isInUrl && !asksUser && !isPartOfUrl(shown)
  const given = { value: shown, pattern, oneOf, label, example, isText: isText || undefined }
  const read = withoutUndefined(given) as ProviderVariable // both are set
  const fault = variableFault(read)
  const at = `${path}.${value === undefined ? 'example' : 'value'}`
  if (fault !== undefined && oneOf !== undefined)
    return refuse(at, `has to be one of ${oneOf.join(', ')}`, { sent: shown, known: oneOf })
  if (fault !== undefined) refuse(at, `${fault}${wanted && value !== undefined ? ` (${wanted})` : ''}`)
  if (asksUser) return { ...read, askUser: true }
  return value === undefined ? { ...read, isExample: true } : read
}

/** The allowed values that the request sets for a variable; `undefined` if it sets none. */
function readAllowed(
  path: string,
  { pattern, one_of: oneOf }: z.output<typeof input>,
): Pick<ProviderVariable, 'pattern' | 'oneOf'> | undefined {
  if (oneOf !== undefined && pattern !== undefined)
    return refuse(`${path}.one_of`, 'takes the place of pattern; leave one of them out')
  if (oneOf !== undefined) {
    const allowed = { pattern: anyOf(oneOf), oneOf }
    for (const [at, value] of oneOf.entries()) {
      const fault = variableFault({ ...allowed, value })
      if (fault !== undefined) refuse(`${path}.one_of.${at}`, fault)
    }
    return allowed
  }
  const fault = pattern === undefined ? undefined : patternFault(pattern)
  if (fault !== undefined) refuse(`${path}.pattern`, fault)
  return pattern === undefined ? undefined : { pattern }
}

function refuseMissing(path: string, wanted: string): never {
  const label = wanted === '' ? {} : { label: wanted }
  throw invalidMember(path, 'missing', `${path} is required${wanted && `: ${wanted}`}.`, label)
}

/** Checks the URLs of the base with the new values, since the request may not replace these URLs. */
function checkUrlsOf(base: Provider, variables: Variables, allowsHttp: AllowsHttp, at: string): void {
  for (const [path, template] of urlTemplatesOf(base)) {
    const naming = { variables, keptValues: base.keptValues ?? {} }
    if (baseUrlTemplateFault(template, naming) !== undefined) continue
    const url = path === 'api.base_url' ? fillUrl(template, variables) : fillEndpoint(template, naming)
    const fault = literalUrlFault(url, allowsHttp)
    if (fault !== undefined) refuse(at, `would make the URL ${url}, which ${fault}`)
  }
}

/** Refuses a provider with a template that names a variable or a kept value which it no longer has. */
export function checkVariables(provider: Provider): void {
  const { variables = {}, keptValues = {}, api, refreshRequest } = provider
  const ofEntry = { variables, keptValues: {} }
  const kept = Object.keys(keptValues)
  for (const name of kept)
    if (Object.hasOwn(variables, name)) refuse(`oauth2.kept_values.${name}`, 'is the name of a variable')
  checkNamesIn('oauth2.api.headers', api?.headers, kept)
  checkNamesIn('oauth2.refresh_request.params', refreshRequest?.params, kept)
  checkNamesIn('oauth2.refresh_request.headers', refreshRequest?.headers, kept)
  for (const [path, template] of urlTemplatesOf(provider)) {
    const text = Object.keys(variables).find(
      (name) => variables[name]?.isText === true && hasPlaceholder(template, name),
    )
    if (text !== undefined) refuse(`oauth2.variables.${text}`, 'has a value that no URL can have')
    const fault =
      path === 'api.base_url'
        ? baseUrlTemplateFault(template, provider)
        : path === 'authorize_request.endpoint'
          ? (urlTemplateFault(template, ofEntry) ?? openDomainFault(template, ofEntry))
          : (urlTemplateFault(template, provider) ?? openDomainFault(template, provider))
    if (fault !== undefined) refuse(`oauth2.${path}`, fault)
  }
}

function checkNamesIn(
  path: string,
  templates: Readonly<Record<string, string>> | undefined,
  kept: readonly string[],
): void {
  for (const [name, template] of Object.entries(templates ?? {})) {
    const fault = checkTemplate(template, [...PLACEHOLDERS, ...kept])
    if (fault !== undefined) refuse(`${path}.${name}`, fault)
  }
}

/** The fault of a URL whose kept values are not known yet. */
export function literalUrlFault(url: string, allowsHttp: AllowsHttp): string | undefined {
  if (isFilled(url) || literalHost(url) !== undefined)
    return endpointFault(url.replaceAll(/\{\{.*?\}\}/g, 'x'), allowsHttp)
  return /^(?:https?:\/\/|\{\{)/i.test(url) && !/[#?\\\s]/.test(url.replaceAll(/\{\{.*?\}\}/g, 'x'))
    ? undefined
    : 'is not an absolute URL'
}

/**
 * The URL that was sent, filled with the values of the variables and with examples of values that differ between
 * connections; and what was sent as its template, if it has placeholders for them.
 */
export function readUrl(
  path: string,
  sent: string,
  naming: Pick<Provider, 'variables' | 'keptValues'>,
): { readonly url: string; readonly template?: string } {
  const fault = urlTemplateFault(sent, naming)
  if (fault !== undefined) refuse(path, `${fault}: oauth2.variables declares what may be named`)
  const domainFault = openDomainFault(sent, naming)
  if (domainFault !== undefined) refuse(path, domainFault)
  const unknown = Object.entries(naming.keptValues ?? {}).find(
    ([name, { oneOf, example }]) =>
      oneOf === undefined && example === undefined && hasPlaceholder(sent, name),
  )
  if (unknown !== undefined)
    refuse(`oauth2.kept_values.${unknown[0]}.example`, 'is required, since an endpoint names the value')
  const url = fillEndpoint(sent, naming)
  return url === sent ? { url } : { url, template: sent }
}
