import { type Command, InvalidArgumentError } from 'commander'
import type {
  AuthProviderCreateRequest,
  AuthProviderResponse,
  AuthProviderUpdateRequest,
} from '../sdk/generated/wire.ts'
import { lacksClient } from './definition-file.ts'
import { CommandFailure, EXIT } from './failure.ts'
import type { InputFlags } from './input-flags.ts'
import { promptSecret, promptText } from './prompt.ts'
import { type CatalogueDefinition, clientWords } from './provider-catalogue.ts'
import { readJsonFile } from './read-json-file.ts'
import { type CommonOptions, parseId } from './shell.ts'

// The client of a provider and the variables of its URLs, as `providers add` and `set` take them.

export interface ClientOptions extends CommonOptions {
  readonly clientId?: string
  /** The client has no secret. */
  readonly public?: true
  /** Each is `name=value`. */
  readonly variable?: readonly string[]
}

/** Adds the options of the client, and those that are members of the request. */
export function withClientOptions(command: Command, members: InputFlags<unknown>): Command {
  return members
    .addTo(command)
    .option('--client-id <id>', 'the client id that the provider issued; prompted for at a terminal', parseId)
    .option('--public', 'the client has no secret')
    .option(
      '--variable <name=value>',
      'the value of a variable in its URLs, such as subdomain=acme; may be repeated',
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
  const variables = { ...body.oauth2?.variables }
  for (const one of variable) {
    const name = variableName(one)
    variables[name] = { ...variables[name], value: one.slice(name.length + 1) }
  }
  return { ...body, oauth2: { ...body.oauth2, variables } }
}

interface ClientContext {
  /** Has the words that the provider uses for the client id and the secret. */
  readonly definition?: CatalogueDefinition
  /** The client id that the provider has, which is kept unless another one is given. */
  readonly storedId?: string | undefined
}

/**
 * Prompts for the client id, if no option has it, and for the secret. Without a terminal the secret is the first line
 * of standard input, and the option is required unless a client id is stored. A client id that is kept is left out.
 */
export async function promptClient(
  { clientId, public: isPublic }: ClientOptions,
  { definition, storedId }: ClientContext = {},
) {
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
  { client_id: storedId, redirect_uri }: AuthProviderResponse['oauth2'],
): Promise<AuthProviderUpdateRequest> {
  const { file, clientId, variable, json } = options
  const isPublic = options.public === true
  if (file !== undefined) {
    refuseSecondClient(options)
    return { ...(await readJsonFile(file)), ...members }
  }
  const changesOthers = variable !== undefined || Object.keys(members).length > 0
  if (changesOthers && clientId === undefined && !isPublic) return members
  if (!json) process.stderr.write(`Redirect URI to register: ${redirect_uri}\n`)
  const client = await promptClient(options, { storedId })
  return { ...members, oauth2: { ...client, ...(isPublic && { client_secret: null }) } }
}

/** Throws `CommandFailure` if the options name a client although the file has one. */
function refuseSecondClient(options: ClientOptions): void {
  if (options.clientId === undefined && options.public !== true) return
  throw new CommandFailure(
    'With --file, the client comes from the file: leave --client-id and --public out.',
    EXIT.usage,
  )
}

/** The content of a file. If the file is a definition, which has no client, it prompts for the client and adds it. */
export async function withClient(
  given: Record<string, unknown>,
  options: ClientOptions,
): Promise<Partial<AuthProviderCreateRequest>> {
  if (!lacksClient(given)) {
    refuseSecondClient(options)
    return given
  }
  return { ...given, oauth2: { ...Object(given.oauth2), ...(await promptClient(options)) } }
}
