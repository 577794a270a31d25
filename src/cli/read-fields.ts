import type { Api } from './api.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { promptSecret, promptText } from './prompt.ts'
import { readJsonFile } from './read-json-file.ts'

export const FIELDS = [
  '--fields',
  'for a provider whose users type a key: prompts for its fields, or reads a JSON object of them from standard input',
] as const

/** What people would type for the provider. Secrets are no arguments: other users of the machine see those. */
export async function readFields(api: Api, provider: string): Promise<Record<string, string>> {
  const { credentials } = await api.call('getAuthProvider', { params: { id: provider } })
  if (credentials === undefined)
    throw new CommandFailure(
      `Nothing is typed for "${provider}", whose tokens come from its server: leave out --fields.`,
      EXIT.usage,
    )
  if (!process.stdin.isTTY) return (await readJsonFile('-')) as Record<string, string> // the API checks each value
  const values: Record<string, string> = {}
  for (const [name, { label = name, secret = false }] of Object.entries(credentials.fields))
    values[name] = secret ? await promptSecret(label) : await promptText(label)
  return values
}
