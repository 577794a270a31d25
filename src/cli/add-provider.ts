import type { AuthProviderCreateRequest, AuthProviderResponse } from '../sdk/generated/wire.ts'
import type { Api } from './api.ts'
import { CommandFailure, EXIT, faultsOf } from './failure.ts'
import { promptText } from './prompt.ts'

// Variables in a provider's URLs that its definition leaves to the operator, such as Zendesk's subdomain.

/** Adds the provider. At a terminal it prompts for the variables that the answer names as missing. */
export async function addProvider(api: Api, body: AuthProviderCreateRequest): Promise<AuthProviderResponse> {
  try {
    return await api.call('createAuthProvider', { body })
  } catch (error) {
    const missing = missingVariables(error)
    if (!(error instanceof CommandFailure) || missing.length === 0) throw error
    if (!process.stdin.isTTY) {
      const options = missing.map(({ name }) => `--variable ${name}=…`).join(' ')
      throw new CommandFailure(`${error.message} Give ${options}.`, EXIT.usage)
    }
    const type = body.type ?? 'oauth2'
    const settings = body[type] ?? {}
    const variables: Record<string, NonNullable<typeof settings.variables>[string]> = {
      ...settings.variables,
    }
    for (const { name, label } of missing)
      variables[name] = { ...variables[name], value: await promptText(label === '' ? name : label) }
    return api.call('createAuthProvider', { body: { ...body, [type]: { ...settings, variables } } })
  }
}

/** The variables without a value, with their labels and examples. */
export function missingVariables(
  error: unknown,
): readonly { readonly name: string; readonly label: string }[] {
  return faultsOf(error).flatMap(({ path, code, label = '' }) => {
    const [, name] = /^(?:oauth2|oauth1|credentials)\.variables\.([a-z_]+)\.value$/.exec(path) ?? []
    return code === 'missing' && name !== undefined ? [{ name, label }] : []
  })
}
