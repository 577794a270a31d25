import { didYouMean } from '../domain/nearest.ts'
import { omitted } from '../operations/omitted.ts'
import { englishSentence } from '../providers/catalogue/scope-sentences.ts'
import type { DefinitionInput } from '../providers/definition/definition-schema.ts'
import type { Api } from './api.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { outputTable } from './output-table.ts'
import { bold, dim, MARKS, print, printJson, sanitize, shortened } from './print.ts'
import type { CommonOptions } from './shell.ts'

/** A definition of the catalogue, in the form of a definition file. */
export type CatalogueDefinition = DefinitionInput

/** The description of a longer scope, such as Google's URLs, is printed on its own line. */
const WIDEST_SCOPE = 30

const CATALOGUE = outputTable('listProviderCatalogue', {
  id: 'id',
  name: ['name', ({ name }) => shortened(name)],
  category: 'category',
  type: [
    'access',
    ({ type, without_user: isUserless }) =>
      type === 'credentials' ? 'key' : isUserless ? 'client' : 'consent',
  ],
  verified: ['endpoints', ({ verified }) => (verified ? 'verified' : 'unverified')],
  variables: 'asks for',
  ...omitted('also_known_as', 'without_user', 'second_way_of', 'documentation'),
})

/** Prints the providers of the catalogue; with `search` those that match it, the best match first. */
export async function listCatalogue(
  api: Api,
  search: string | undefined,
  { json }: CommonOptions,
): Promise<void> {
  const items = await api.list('listProviderCatalogue', { query: { search } })
  if (json) return printJson({ items })
  if (items.length === 0) return print(`The catalogue has no provider like "${sanitize(search ?? '')}".`)
  print(CATALOGUE(items))
}

/** Returns the definition; `undefined` if the catalogue has none of that name. */
export async function findDefinition(api: Api, id: string): Promise<CatalogueDefinition | undefined> {
  return (await api.find('getCatalogueDefinition', { params: { id } })) as CatalogueDefinition | undefined // as documented
}

/** Returns the definition. Throws `CommandFailure` with the most similar names if there is none. */
export async function getDefinition(api: Api, id: string): Promise<CatalogueDefinition> {
  return (await api.call('getCatalogueDefinition', { params: { id } })) as unknown as CatalogueDefinition // as documented
}

/** Prints a definition from which no provider was added yet. */
export function reportDefinition(definition: CatalogueDefinition, { json }: CommonOptions): void {
  if (json) {
    printJson(definition)
    return
  }
  const { id, name, documentation, registration, oauth2, oauth1, credentials } = definition
  const { category = '-', sources = [], scopes = {} } = definition
  print(`${MARKS.warning} ${bold(sanitize(id))}  known, not added`)
  const members: [string, string][] = [
    ['name', name],
    ['category', category],
    ['endpoints', verificationText(definition)],
    ...endpointsOf(definition),
    ['documentation', documentation ?? '-'],
    ...(registration === undefined ? [] : [['clients are registered', registration.url] as [string, string]]),
    ...sources.map((source): [string, string] => ['source', source]),
  ]
  for (const [variable, declared] of Object.entries((oauth2 ?? oauth1 ?? credentials)?.variables ?? {})) {
    const { label, value, example = '' } = declared ?? {}
    members.push([label ?? variable, value === undefined ? `to be given, such as ${example}` : value])
  }
  for (const [member, value] of members) print(`  ${dim(member.padEnd(22))}  ${sanitize(value)}`)
  const explained = Object.entries(scopes)
  const width = Math.min(WIDEST_SCOPE, Math.max(...explained.map(([scope]) => scope.length)))
  if (explained.length > 0) print('\nScopes in words:')
  for (const [scope, meaning] of explained) {
    const column = scope.length > width ? `\n  ${' '.repeat(width)}` : ' '.repeat(width - scope.length)
    print(`  ${dim(sanitize(scope))}${column}  ${sanitize(englishSentence(meaning))}`)
  }
  print(`\nTo add it: gatepass providers add ${sanitize(id)}`)
}

function endpointsOf({ oauth2, oauth1, credentials }: CatalogueDefinition): [string, string][] {
  if (credentials !== undefined)
    return [
      ['users type', Object.keys(credentials.fields).join(', ')],
      ['checked at', (credentials.test_request ?? credentials.token_request)?.endpoint ?? '-'],
    ]
  const grant = grantOf({ oauth2 })
  const authorization = (oauth2 ?? oauth1)?.authorize_request?.endpoint
  const lines: [string, string][] = [['token endpoint', (oauth2 ?? oauth1)?.token_request?.endpoint ?? '-']]
  if (grant === undefined || authorization !== undefined)
    lines.unshift(['authorization endpoint', authorization ?? '-'])
  if (grant !== undefined) lines.unshift(['grant', grant])
  return lines
}

/** The grant by which the client asks for tokens itself; `undefined` where users take part. */
export function grantOf({ oauth2 }: Pick<CatalogueDefinition, 'oauth2'>): string | undefined {
  const type = oauth2?.grant?.type
  return type === 'authorization_code' ? undefined : type
}

/** Throws `CommandFailure`, with the most similar name, for a variable that the definition does not declare. */
export function refuseUnknownVariables(
  { id, oauth2, oauth1, credentials }: CatalogueDefinition,
  given: readonly string[],
): void {
  const known = Object.keys((oauth2 ?? oauth1 ?? credentials)?.variables ?? {})
  for (const name of given) {
    if (known.includes(name)) continue
    const has = known.length === 0 ? 'It has none.' : `It has ${known.join(', ')}.`
    throw new CommandFailure(
      `The definition of "${id}" has no variable "${name}".${didYouMean(name, known)} ${has}`,
      EXIT.usage,
    )
  }
}

/** Says on standard error that the endpoints are unverified. */
export function warnIfUnverified(definition: CatalogueDefinition): void {
  if (definition.verified) return
  process.stderr.write(
    `${MARKS.warning} The endpoints of ${sanitize(definition.name)} are unverified: only one source lists them. Compare them with the provider's documentation.\n`,
  )
}

/**
 * Prints how to register the client to standard error, so that standard output has only the result. Where the client asks
 * for tokens without a user, no browser returns to a redirect URI.
 */
export function explainRegistration(definition: CatalogueDefinition, redirectUri: string): void {
  const { name, registration, documentation } = definition
  const { url = documentation, steps = [], fields = {} } = registration ?? {}
  const { redirect_uri: field = 'Redirect URI' } = fields
  const grant = grantOf(definition)
  const hasRedirect = grant === undefined || grant === 'installation'
  const lines = [
    ...(url === undefined ? [] : [`Register a client of ${name}: ${url}`]),
    ...steps.map((step, index) => `  ${index + 1}. ${step}`),
    ...(hasRedirect ? [`${field}: ${redirectUri}`] : []),
  ]
  process.stderr.write(`${lines.map(sanitize).join('\n')}\n`)
}

/** The labels of the prompts for client id and secret, with the provider's own terms in brackets. */
export function clientWords({ registration }: CatalogueDefinition): {
  readonly id: string
  readonly secret: string
} {
  const { client_id, client_secret } = registration?.fields ?? {}
  return {
    id: promptLabel('client id', client_id),
    secret: promptLabel('client secret', client_secret),
  }
}

function promptLabel(usual: string, own: string | undefined): string {
  return own === undefined || own.toLowerCase() === usual ? usual : `${usual} (${sanitize(own)})`
}

function verificationText({ verified, checked }: CatalogueDefinition): string {
  return verified
    ? `verified${checked === undefined ? '' : `, checked ${checked}`}`
    : 'unverified: only one source has them'
}
