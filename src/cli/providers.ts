import type { Command } from 'commander'
import { nearest } from '../domain/nearest.ts'
import { omitted } from '../operations/omitted.ts'
import type { AuthProviderResponse } from '../sdk/generated/wire.ts'
import { addProvider } from './add-provider.ts'
import { type Api, serverOf, withApi, withCatalogueFiles } from './api.ts'
import { checkDefinition, readProviderFile } from './definition-file.ts'
import { inputFlags } from './input-flags.ts'
import { outputLines, outputTable } from './output-table.ts'
import { bold, dim, MARKS, print, printJson, sanitize, shortened } from './print.ts'
import {
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
}

const ADD = inputFlags('createAuthProvider', {
  description: 'what it is for',
  // the argument, --catalogue, and what describes a definition in its file
  ...omitted('id', 'type', 'provider_id', 'status', '$schema', 'also_known_as', 'category'),
  ...omitted('shares_endpoints_with', 'documentation', 'sources', 'checked', 'verified', 'logo'),
  ...omitted('external_id'),
})
const SET = inputFlags('updateAuthProvider', {
  // these never change
  ...omitted('id', 'type', 'provider_id'),
  description: 'what it is for',
  keep_connections:
    'connections stay usable, with their tokens, after a change of the endpoints or the client id',
})

const PROVIDERS = outputTable('listAuthProviders', {
  id: 'id',
  status: 'status',
  'oauth2.client_id': 'client id',
  'oauth2.client_secret': ['secret', ({ oauth2 }) => (oauth2.client_secret.exists ? 'set' : '')],
  'oauth2.redirect_uri': 'redirect URI',
  description: ['description', ({ description = '' }) => shortened(description)],
  ...omitted('provider_id', 'type', 'missing', 'created_at', 'updated_at'),
})

const PROVIDER = outputLines('getAuthProvider', {
  'oauth2.redirect_uri': 'redirect URI',
  'oauth2.authorize_request.endpoint': 'authorization endpoint',
  'oauth2.token_request.endpoint': 'token endpoint',
  'oauth2.client_id': ['client id', ({ oauth2 }) => oauth2.client_id ?? '-'],
  'oauth2.client_secret': [
    'client secret',
    ({ oauth2 }) => (oauth2.client_secret.exists ? 'set' : 'not set'),
  ],
  ...omitted('id', 'status', 'missing', 'type', 'provider_id', 'created_at', 'updated_at'),
})

export function defineProviders(providers: Command, shell: Shell): void {
  providers.addHelpText('after', EXAMPLES)

  withCommonOptions(
    providers.command('list', { isDefault: true }).description('list providers, without secrets'),
  )
    .option('--catalogue [search]', 'instead, the providers that Gatepass knows')
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
          return print(
            'No providers. `gatepass providers list --catalogue` shows those that can be added by name.',
          )
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
        .description('add a provider: from the catalogue by its name, by its issuer, or from a file')
        .argument('<id>', 'the id of the new provider, such as github', parseId),
    ),
    ADD,
  )
    .option('--catalogue <name>', 'the name in the built-in catalogue, if it differs from the id', parseId)
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
        const body = withVariables({ type: 'oauth2', ...described, ...ADD.read(options), id }, options)
        report(await addProvider(api, body), options)
      })
    })

  withClientOptions(
    withCommonOptions(
      providers
        .command('set')
        .description("set a provider's client; the secret is prompted for, or read from standard input")
        .argument('<id>', "the provider's id, such as github", parseId),
    ),
    SET,
  )
    .option('--file <path>', 'the JSON body of PATCH /v1/admin/auth_providers/{id}')
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: AddOptions) =>
      withApi(shell, options, async (api: Api) => {
        const params = { id }
        const { oauth2 } = await api.call('getAuthProvider', { params }) // an unknown id fails before the prompt
        const body = withVariables(await readChange(options, SET.read(options), oauth2), options)
        report(await api.call('updateAuthProvider', { params, body }), options)
      }),
    )

  withCommonOptions(
    providers
      .command('delete')
      .description('delete a provider with its connections')
      .argument('<id>', "the provider's id", parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        await api.call('deleteAuthProvider', { params: { id } })
        if (options.json) return printJson({ id, deleted: true })
        print(`${MARKS.ok} ${sanitize(id)} is deleted, with its connections.`)
      }),
    )

  defineProvidersTest(providers, shell)
}

/**
 * Adds a provider by its name. At a terminal the provider is stored first and its client afterwards, because the operator
 * registers the client with the redirect URI of the stored provider.
 */
async function addFromCatalogue(api: Api, id: string, options: AddOptions): Promise<void> {
  const definition = await getDefinition(api, options.catalogue ?? id)
  refuseUnknownVariables(definition, (options.variable ?? []).map(variableName))
  const isPromptedLater = options.clientId === undefined && process.stdin.isTTY === true
  const client = isPromptedLater ? {} : await promptClient(options, { definition })
  if (!options.json) warnIfUnverified(definition)
  const members = { ...ADD.read(options), id, provider_id: definition.id }
  const body = withVariables({ type: 'oauth2', ...members, oauth2: client }, options)
  const added = await addProvider(api, body)
  if (!options.json) explainRegistration(definition, added.oauth2.redirect_uri)
  if (!isPromptedLater) return report(added, options)
  process.stderr.write(
    `The provider is stored. To set its client later: gatepass providers set ${sanitize(id)}\n`,
  )
  const complete = { oauth2: await promptClient(options, { definition }) }
  report(await api.call('updateAuthProvider', { params: { id }, body: complete }), options)
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
  const { id, status, oauth2 } = provider
  const lacks = [
    ...(oauth2.client_id === undefined ? ['client id'] : []),
    ...(oauth2.client_secret.exists ? [] : ['client secret']),
  ]
  print(`${lacks.length === 0 ? MARKS.ok : MARKS.warning} ${bold(sanitize(id))}  ${sanitize(status)}`)
  for (const [heading, text] of PROVIDER(provider)) print(`  ${dim(heading.padEnd(22))}  ${sanitize(text)}`)
  for (const [name, { value = 'asked of each user', label = name }] of Object.entries(oauth2.variables ?? {}))
    print(`  ${dim(sanitize(label).padEnd(22))}  ${sanitize(value)}`)
}

const EXAMPLES = `
Examples:
  $ gatepass providers
  $ gatepass providers list --catalogue zen           what Gatepass knows of that name
  $ gatepass providers add zendesk                    asks for the subdomain and the client
  $ gatepass providers show github --json
  $ gatepass providers set github                     prompts for the client id and the secret
  $ gatepass providers add zendesk --variable subdomain=acme
  $ gatepass providers set zendesk --variable subdomain=other
  $ printf '%s' "$SECRET" | gatepass providers set github     keeps the client id
  $ printf '%s' "$SECRET" | gatepass providers add google --client-id 123.apps.googleusercontent.com`
