import { type Command, InvalidArgumentError } from 'commander'
import { hasRedirect } from '../providers/provider-grant.ts'
import type {
  AuthProviderCreateRequest,
  AuthProviderResponse,
  AuthProviderUpdateRequest,
} from '../sdk/generated/wire.ts'
import { lacksClient } from './definition-file.ts'
import { CommandFailure, EXIT } from './failure.ts'
import type { InputFlags } from './input-flags.ts'
import { readKeyFile } from './key-file.ts'
import { promptSecret, promptText } from './prompt.ts'
import { type CatalogueDefinition, clientWords } from './provider-catalogue.ts'
import { readJsonFile } from './read-json-file.ts'
import { type CommonOptions, parseId } from './shell.ts'

// The client of a provider and the variables of its URLs, as `providers add` and `set` take them.

export interface ClientOptions extends CommonOptions {
  readonly clientId?: string
  /** The client has no secret. */
  readonly public?: true
  /** The file with the client's id and its key. */
  readonly keyFile?: string
  /** Each is `name=value`. */
  readonly variable?: readonly string[]
}

/** Adds the options of the client, and those that are members of the request. */
export function withClientOptions(command: Command, members: InputFlags<unknown>): Command {
  return members
    .addTo(command)
    .option(
      '--client-id <id>',
      'the client id that the provider issued (prompted for at a terminal)',
      parseId,
    )
    .option('--public', 'the client has no secret')
    .option(
      '--key-file <path>',
      'a key file of a machine account, for the grant jwt_bearer: its client_email, private_key and private_key_id; - for standard input',
    )
    .option(
      '--variable <name=value>',
      'the value of a variable in its URLs, such as subdomain=acme (may be repeated)',
      (text: string, before: readonly string[] = []) => [...before, parseVariable(text)],
    )
}

/** The name of a variable in `name=value`. */
export const variableName = (variable: string) => variable.slice(0, variable.indexOf('='))

function parseVariable(text: string): string {
  if (/^[a-z_]+=./.test(text)) return text
  throw new InvalidArgumentError('Write it as name=value, such as subdomain=acme.')
}

/** Adds the values of `--variable` to the body of a request. */
export function withVariables<Body extends AuthProviderUpdateRequest>(
  body: Body,
  { variable = [] }: ClientOptions,
): Body {
  if (variable.length === 0) return body
  const settings = body.type ?? 'oauth2'
  const variables: Record<string, { readonly value?: string | undefined } | null> = {
    ...body[settings]?.variables,
  }
  for (const one of variable) {
    const name = variableName(one)
    variables[name] = { ...variables[name], value: one.slice(name.length + 1) }
  }
  return { ...body, [settings]: { ...body[settings], variables } }
}

interface ClientContext {
  /** Has the words that the provider uses for the client id and the secret. */
  readonly definition?: CatalogueDefinition
  /** The client id that the provider has, which is kept unless another one is given. */
  readonly storedId?: string | undefined
  /** The assertion of its grant, to which a key file adds the id of the key. */
  readonly assertion?: Parameters<typeof readKeyFile>[1]
}

/**
 * Prompts for the client id, if no option has it, and for the secret. Without a terminal the secret is the first line
 * of standard input, and the option is required unless a client id is stored. A client id that is kept is left out. With
 * `--key-file` the client is the file's.
 */
export async function promptClient(
  options: ClientOptions,
  { definition, storedId, assertion }: ClientContext = {},
) {
  const { clientId, public: isPublic, keyFile } = options
  if (keyFile !== undefined) {
    refuseSecondClient(options, '--key-file')
    return readKeyFile(keyFile, assertion ?? definition?.oauth2?.assertion)
  }
  const words = definition === undefined ? DEFAULT_WORDS : clientWords(definition)
  const client_id = clientId ?? (await promptText(words.id, { kept: storedId, option: '--client-id' }))
  return {
    ...(client_id !== storedId && { client_id }),
    ...(isPublic !== true && { client_secret: await promptSecret(words.secret) }),
  }
}

const DEFAULT_WORDS = { id: 'client id', secret: 'client secret' }

/**
 * The body of `PATCH`: the members that options give, with the content of the file or the client. The client is prompted
 * for, unless the options only change something else.
 */
export async function readChange(
  options: ClientOptions & { readonly file?: string },
  members: AuthProviderUpdateRequest,
  { type, ...settings }: Pick<AuthProviderResponse, 'type' | 'oauth2' | 'oauth1'>,
): Promise<AuthProviderUpdateRequest> {
  const { file, clientId, keyFile, variable, json } = options
  const isPublic = options.public === true
  if (file !== undefined) {
    refuseSecondClient(options, '--file')
    return { ...(await readJsonFile(file)), ...members }
  }
  const registered = settings.oauth2 ?? settings.oauth1
  if (registered === undefined) return members // users type credentials, so there is no client
  const { client_id: storedId, redirect_uri } = registered
  const isRedirected = settings.oauth2 === undefined || hasRedirect(settings.oauth2)
  const changesOthers = variable !== undefined || Object.keys(members).length > 0
  if (changesOthers && clientId === undefined && keyFile === undefined && !isPublic) return members
  if (!json && keyFile === undefined && isRedirected)
    process.stderr.write(`Redirect URI to register: ${redirect_uri}\n`)
  const client = await promptClient(options, { storedId, assertion: settings.oauth2?.assertion })
  return { ...members, [type]: { ...client, ...(isPublic && { client_secret: null }) } }
}

/** Throws `CommandFailure` if the options name a client although the file of `option` has one. */
function refuseSecondClient(options: ClientOptions, option: '--file' | '--key-file'): void {
  const isKeyed = option === '--file' && options.keyFile !== undefined
  if (options.clientId === undefined && options.public !== true && !isKeyed) return
  throw new CommandFailure(
    `With ${option}, the client comes from the file: leave out --client-id and --public${isKeyed ? ', and --key-file' : ''}.`,
    EXIT.usage,
  )
}

/** The content of a file. If the file is a definition, which has no client, it prompts for the client and adds it. */
export async function withClient(
  given: Record<string, unknown>,
  options: ClientOptions,
): Promise<Partial<AuthProviderCreateRequest>> {
  if (!lacksClient(given)) {
    refuseSecondClient(options, '--file')
    return given
  }
  const type = 'oauth1' in given ? 'oauth1' : 'oauth2'
  const server = Object(given[type])
  return {
    ...given,
    [type]: { ...server, ...(await promptClient(options, { assertion: server.assertion })) },
  }
}
