import { extname } from 'node:path'
import { readYaml } from '../parsing/read-yaml.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { readJsonFile, readTextFile } from './read-json-file.ts'

/**
 * Reads the object of a file in JSON or YAML, or of JSON on standard input for `-`. It is the body of `POST
 * /v1/admin/auth_providers`, or the definition of a provider, which differs only by having no client.
 */
export async function readProviderFile(source: string): Promise<Record<string, unknown>> {
  if (!['.yaml', '.yml'].includes(extname(source))) return readJsonFile(source)
  const text = await readTextFile(source)
  const yaml = await readYaml(text)
  if (yaml.outcome === 'unreadable')
    throw new CommandFailure(`The file "${source}" is not YAML${yaml.why}.`, EXIT.usage)
  const { value } = yaml
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new CommandFailure(`The file "${source}" should hold one object.`, EXIT.usage)
}

/** Whether the object has no client, as a definition. */
export function lacksClient({ oauth2 }: Readonly<Record<string, unknown>>): boolean {
  return typeof oauth2 === 'object' && oauth2 !== null && !('client_id' in oauth2)
}
