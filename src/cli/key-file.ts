import { clientOfKeyFile } from '../providers/key-file.ts'
import type { AuthProviderUpdateRequest } from '../sdk/generated/wire.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { readJsonFile } from './read-json-file.ts'

type Assertion = NonNullable<NonNullable<AuthProviderUpdateRequest['oauth2']>['assertion']>

/**
 * The client of a key file, as services hand them out for their machine accounts. Only `client_email`, `private_key` and
 * `private_key_id` are read: other members of such files say where to send the assertion, or name programs to run.
 * `assertion`: as the entry or definition has it.
 */
export async function readKeyFile(path: string, assertion: Assertion | null | undefined) {
  const client = clientOfKeyFile(await readJsonFile(path))
  if (client === undefined)
    throw new CommandFailure(
      `The key file "${path}" needs the texts client_email and private_key.`,
      EXIT.usage,
    )
  return {
    client_id: client.clientId,
    client_secret: client.key,
    assertion: {
      algorithm: 'RS256' as const,
      ...assertion,
      ...(client.keyId !== undefined && { key_id: client.keyId }),
    },
  }
}
