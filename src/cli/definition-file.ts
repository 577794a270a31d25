import { extname } from 'node:path'
import type { AllowsHttp } from '../egress/endpoint.ts'
import { readYaml } from '../parsing/read-yaml.ts'
import { readDefinition } from '../providers/definition/read-definition.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { readJsonFile, readTextFile } from './read-json-file.ts'

/**
 * Reads the object in a JSON or YAML file; for `-`, the JSON object on standard input. The object is the body of `POST
 * /v1/admin/auth_providers`, or a provider's definition, which is such a body without a client.
 */
export async function readProviderFile(source: string): Promise<Record<string, unknown>> {
  if (!['.yaml', '.yml'].includes(extname(source))) return readJsonFile(source)
  const text = await readTextFile(source)
  const yaml = await readYaml(text)
  if (yaml.outcome === 'unreadable')
    throw new CommandFailure(`The file "${source}" is not YAML${yaml.why}.`, EXIT.usage)
  const { value } = yaml
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new CommandFailure(`The file "${source}" must contain one object.`, EXIT.usage)
}

/**
 * Reads an object that is a definition as a start reads those of `GATEPASS_PROVIDERS`. Throws `invalid_request` with all
 * faults. Other bodies are read by the API alone.
 */
export function checkDefinition(
  id: string,
  given: Readonly<Record<string, unknown>>,
  allowsHttp: AllowsHttp,
): void {
  if ((lacksClient(given) || 'credentials' in given) && 'name' in given && !('type' in given))
    readDefinition({ ...given, id }, { allowsHttp })
}

/** Whether the object is a definition: its `oauth2` or `oauth1` has no `client_id`. */
export function lacksClient({ oauth2, oauth1 }: Readonly<Record<string, unknown>>): boolean {
  const server = oauth2 ?? oauth1
  return typeof server === 'object' && server !== null && !('client_id' in server)
}
