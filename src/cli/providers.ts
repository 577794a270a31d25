import type { Command } from 'commander'
import { nearest } from '../domain/nearest.ts'
import { omitted } from '../operations/omitted.ts'
import { consentedServiceAt } from '../providers/catalogue/consented-service.ts'
import { PROVIDER_TYPES } from '../providers/provider.ts'
import { hasRedirect } from '../providers/provider-grant.ts'
import type { AuthProviderResponse } from '../sdk/generated/wire.ts'
import { addProvider } from './add-provider.ts'
import { type Api, serverOf, withApi, withCatalogueFiles } from './api.ts'
import { checkDefinition, readProviderFile } from './definition-file.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { inputFlags } from './input-flags.ts'
import { outputLines, outputTable } from './output-table.ts'
import { bold, dim, MARKS, print, printJson, sanitize, shortened } from './print.ts'
import {
  type CatalogueDefinition,
  explainRegistration,
  findDefinition,
  getDefinition,
  listCatalogue,
  refuseUnknownVariables,
  reportDefinition,
  warnIfUnverified,
} from './provider-catalogue.ts'
import {
  type ClientOptions,
  promptClient,
  readChange,
  variableName,
  withClient,
  withClientOptions,
  withVariables,
} from './provider-client.ts'
import { defineProvidersTest } from './providers-test.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from './shell.ts'

interface ListOptions extends CommonOptions {
  /** The text to search for; `true` if the option has none. */
  readonly catalogue?: string | true
}

interface AddOptions extends ClientOptions {
  readonly catalogue?: string
  readonly issuer?: string
  readonly file?: string
  readonly withKey?: true
}

const ADD = inputFlags('createAuthProvider', {
  description: 'what it is for',
  // the argument, --catalogue, and what describes a definition in its file
  ...omitted('id', 'type', 'provider_id', 'status', '$schema', 'also_known_as', 'category'),
  ...omitted(
    'second_way_of',
    'shares_endpoints_with',
    'documentation',
    'sources',
    'checked',
    'verified',
    'logo',
  ),
  ...omitted('external_id'),
})
const SET = inputFlags('updateAuthProvider', {
  // these never change
  ...omitted('id', 'type', 'provider_id'),
  description: 'what it is for',
  keep_connections:
    'keep connections and their tokens usable after a change of the endpoints or the client id',
})

/** The settings of the server with the client; `undefined` where users type credentials. */
const clientOf = ({ oauth2, oauth1 }: Pick<AuthProviderResponse, 'oauth2' | 'oauth1'>) => oauth2 ?? oauth1

const PROVIDERS = outputTable('listAuthProviders', {
  id: 'id',
  status: 'status',
  'oauth2.client_id': ['client id', (one) => clientOf(one)?.client_id ?? ''],
  'oauth2.client_secret': ['secret', (one) => (clientOf(one)?.client_secret.exists ? 'set' : '')],
  'oauth2.redirect_uri': ['redirect URI', (one) => clientOf(one)?.redirect_uri ?? ''],
  description: ['description', ({ description = '' }) => shortened(description)],
  ...omitted('provider_id', 'type', 'missing', 'created_at', 'updated_at'),
})

const PROVIDER = outputLines('getAuthProvider', {
  'oauth2.redirect_uri': [
    'redirect URI',
    ({ oauth2, oauth1 }) => (oauth2 && !hasRedirect(oauth2) ? '' : ((oauth2 ?? oauth1)?.redirect_uri ?? '')),
  ],
  'oauth2.grant.type': ['grant', ({ oauth2 }) => oauth2?.grant?.type ?? ''],
  'oauth2.authorize_request.endpoint': [
    'authorization endpoint',
    (one) => clientOf(one)?.authorize_request?.endpoint ?? '',
  ],
  'oauth2.token_request.endpoint': ['token endpoint', (one) => clientOf(one)?.token_request?.endpoint ?? ''],
  'oauth2.client_id': [
    'client id',
    (one) => (clientOf(one) === undefined ? '' : (clientOf(one)?.client_id ?? '-')),
  ],
  'oauth2.client_secret': [
    'client secret',
    (one) => {
      const server = clientOf(one)
      return server === undefined ? '' : server.client_secret.exists ? 'set' : 'not set'
    },
  ],
  'credentials.fields': [
    'users type',
    ({ credentials }) => (credentials ? Object.keys(credentials.fields).join(', ') : ''),
  ],
  ...omitted('id', 'status', 'missing', 'type', 'provider_id', 'created_at', 'updated_at'),
})

export function defineProviders(providers: Command, shell: Shell): void {
  providers.addHelpText('after', EXAMPLES)

  withCommonOptions(
    providers.command('list', { isDefault: true }).description('list providers, without secrets'),
  )
    .option('--catalogue [search]', 'list the providers in the built-in catalogue instead')
    .addHelpText('after', EXAMPLES)
    .action(async (options: ListOptions) => {
      const { catalogue } = options
      if (catalogue !== undefined) {
        const list = (api: Api) => listCatalogue(api, catalogue === true ? undefined : catalogue, options)
        return serverOf(shell, options) === undefined
          ? withCatalogueFiles(shell, list)
          : withApi(shell, options, list)
      }
      return withApi(shell, options, async (api) => {
        const items = await api.list('listAuthProviders')
        if (options.json) return printJson({ items })
        if (items.length === 0)
          return print('No providers. `gatepass providers list --catalogue` lists those you can add by name.')
        print(PROVIDERS(items))
      })
    })

  withCommonOptions(
    providers
      .command('show')
      .description('show one provider, without its secret, or a definition of the catalogue')
      .argument('<id>', "the provider's id, such as github", parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) => {
      if (serverOf(shell, options) === undefined) {
        const { hasDatabase } = await import('./catalogue-transport.ts')
        if (!(await hasDatabase(shell)))
          return withCatalogueFiles(shell, async (api) =>
            reportDefinition(await getDefinition(api, id), options),
          )
      }
      return withApi(shell, options, async (api) => {
        const params = { id }
        const added = await api.find('getAuthProvider', { params })
        if (added !== undefined) return report(added, options)
        const known = await findDefinition(api, id)
        if (known !== undefined) return reportDefinition(known, options)
        await refuseUnknown(api, id)
        await api.call('getAuthProvider', { params }) // throws with the most similar of the added ones
      })
    })

  withClientOptions(
    withCommonOptions(
      providers
        .command('add')
        .description('add a provider from the catalogue, from its issuer, or from a file')
        .argument('<id>', 'the id of the new provider, such as github', parseId),
    ),
    ADD,
  )
    .option('--catalogue <name>', 'the name in the built-in catalogue, if it differs from the id', parseId)
    .option(
      '--with-key',
      'with the API keys of users instead of a client, where the catalogue knows both ways',
    )
    .option('--issuer <url>', 'an issuer whose metadata describes the provider')
    .option(
      '--file <path>',
      'a definition in JSON or YAML, or the body of POST /v1/admin/auth_providers; - for standard input',
    )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: AddOptions) => {
      const create = { ...options, creates: 'database' } as const
      if (options.file === undefined && options.issuer === undefined)
        return withApi(shell, create, (api) => addFromCatalogue(api, id, options))
      const file = options.file === undefined ? undefined : await readProviderFile(options.file)
      // the server knows which hosts it may reach over http
      if (file !== undefined) checkDefinition(id, file, () => true)
      const described =
        file !== undefined
          ? await withClient(file, options)
          : { oauth2: { ...(await promptClient(options)), issuer: options.issuer } }
      return withApi(shell, create, async (api) => {
        const type = PROVIDER_TYPES.find((known) => known in described) ?? 'oauth2'
        const body = withVariables({ type, ...described, ...ADD.read(options), id }, options)
        const added = await addProvider(api, body)
        if (!options.json) warnIfConsented(added)
        report(added, options)
      })
    })

  withClientOptions(
    withCommonOptions(
      providers
        .command('set')
        .description("set a provider's client (prompts for the secret, or reads it from standard input)")
        .argument('<id>', "the provider's id, such as github", parseId),
    ),
    SET,
  )
    .option('--file <path>', 'the JSON body of PATCH /v1/admin/auth_providers/{id}')
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: AddOptions) =>
      withApi(shell, options, async (api: Api) => {
        const params = { id }
        const before = await api.call('getAuthProvider', { params }) // an unknown id fails before the prompt
        const { type } = before
        const change = await readChange(options, SET.read(options), before)
        const body = withVariables(type === 'oauth2' ? change : { type, ...change }, options)
        report(await api.call('updateAuthProvider', { params, body }), options)
      }),
    )

  withCommonOptions(
    providers
      .command('delete')
      .description('delete a provider and its connections')
      .argument('<id>', "the provider's id", parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        await api.call('deleteAuthProvider', { params: { id } })
        if (options.json) return printJson({ id, deleted: true })
        print(`${MARKS.ok} ${sanitize(id)} was deleted with its connections.`)
      }),
    )

  defineProvidersTest(providers, shell)
}

/**
 * Adds a provider by its name. At a terminal the provider is stored first and its client afterwards, because the operator
 * registers the client with the redirect URI of the stored provider.
 */
async function addFromCatalogue(api: Api, id: string, options: AddOptions): Promise<void> {
  const definition = await definitionToAdd(api, id, options)
  refuseUnknownVariables(definition, (options.variable ?? []).map(variableName))
  if (definition.credentials !== undefined) return addCredentials(api, id, definition, options)
  const { clientId, keyFile } = options
  const isPromptedLater = clientId === undefined && keyFile === undefined && process.stdin.isTTY === true
  const client = isPromptedLater ? {} : await promptClient(options, { definition })
  if (!options.json) warnIfUnverified(definition)
  const members = { ...ADD.read(options), id, provider_id: definition.id }
  const type = definition.oauth1 === undefined ? 'oauth2' : 'oauth1'
  const body = withVariables({ type, ...members, [type]: client }, options)
  const added = await addProvider(api, body)
  if (!options.json) explainRegistration(definition, clientOf(added)?.redirect_uri ?? '')
  if (!isPromptedLater) return report(added, options)
  process.stderr.write(
    `The provider is stored. To set its client later: gatepass providers set ${sanitize(id)}\n`,
  )
  const complete = { [type]: await promptClient(options, { definition }) }
  report(await api.call('updateAuthProvider', { params: { id }, body: complete }), options)
}

/** The definition of the name or, with `--with-key`, that of the same service whose users type a key. */
async function definitionToAdd(
  api: Api,
  id: string,
  { catalogue = id, withKey }: AddOptions,
): Promise<CatalogueDefinition> {
  const named = await getDefinition(api, catalogue)
  if (withKey !== true || named.credentials !== undefined) return named
  const similar = await api.list('listProviderCatalogue', { query: { search: named.id } })
  const way = similar.find(({ type, second_way_of }) => type === 'credentials' && second_way_of === named.id)
  if (way === undefined)
    throw new CommandFailure(
      `The catalogue knows no API keys of ${named.name}. Leave out --with-key, or describe them in a file (--file).`,
      EXIT.usage,
    )
  return getDefinition(api, way.id)
}

/** Adds a provider whose users type credentials: there is no client to register. */
async function addCredentials(
  api: Api,
  id: string,
  definition: CatalogueDefinition,
  options: AddOptions,
): Promise<void> {
  if (options.clientId !== undefined || options.public === true)
    throw new CommandFailure(
      `${definition.name} has no client: its users type credentials. Leave out --client-id and --public.`,
      EXIT.usage,
    )
  if (!options.json) warnIfUnverified(definition)
  const members = { ...ADD.read(options), id, provider_id: definition.id }
  report(await addProvider(api, withVariables({ type: 'credentials', ...members }, options)), options)
}

/** Says on standard error that people would type what they should not give away. */
function warnIfConsented({ credentials, provider_id }: AuthProviderResponse): void {
  if (credentials === undefined || provider_id !== undefined) return
  const { test_request: test, token_request: login, api } = credentials
  const addresses = [login?.endpoint, test?.endpoint, api?.base_url, ...(api?.hosts ?? [])]
  const service = consentedServiceAt(addresses.filter((address) => address !== undefined))
  if (service !== undefined)
    process.stderr.write(
      `${MARKS.warning} The form asks users for credentials of ${sanitize(service.name)}, where they can consent instead: gatepass providers add ${service.id}. A password of such an account should not be typed here.\n`,
    )
}

/** Throws `CommandFailure` with the most similar names of the catalogue, unless the name is similar to an added one. */
async function refuseUnknown(api: Api, id: string): Promise<void> {
  const items = await api.list('listAuthProviders')
  if (
    nearest(
      id,
      items.map((provider) => provider.id),
    ) === undefined
  )
    await getDefinition(api, id)
}

function report(provider: AuthProviderResponse, { json }: CommonOptions): void {
  if (json) {
    printJson(provider)
    return
  }
  const { id, status, credentials } = provider
  const oauth = clientOf(provider)
  const lacks = [
    ...(oauth && oauth.client_id === undefined ? ['client id'] : []),
    ...(oauth && !oauth.client_secret.exists ? ['client secret'] : []),
  ]
  print(`${lacks.length === 0 ? MARKS.ok : MARKS.warning} ${bold(sanitize(id))}  ${sanitize(status)}`)
  for (const [heading, text] of PROVIDER(provider)) print(`  ${dim(heading.padEnd(22))}  ${sanitize(text)}`)
  const variables = (oauth ?? credentials)?.variables ?? {}
  for (const [name, { value = 'asked of each user', label = name }] of Object.entries(variables))
    print(`  ${dim(sanitize(label).padEnd(22))}  ${sanitize(value)}`)
  if (oauth?.client_secret.exists && 'grant' in oauth && oauth.grant)
    print(
      dim(`No user connects it. To share it: gatepass connections add ${sanitize(id)} --name … --users '*'`),
    )
}

const EXAMPLES = `
Examples:
  $ gatepass providers
  $ gatepass providers list --catalogue zen           what Gatepass knows by that name
  $ gatepass providers add zendesk                    prompts for the subdomain and the client
  $ gatepass providers show github --json
  $ gatepass providers set github                     prompts for the client id and the secret
  $ gatepass providers add zendesk --variable subdomain=acme
  $ gatepass providers add drive --file drive.json --key-file key.json
  $ gatepass providers set zendesk --variable subdomain=other
  $ printf '%s' "$SECRET" | gatepass providers set github     keeps the client id
  $ printf '%s' "$SECRET" | gatepass providers add google --client-id 123.apps.googleusercontent.com`
