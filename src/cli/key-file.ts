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
  const { client_email: id, private_key: key, private_key_id: keyId } = await readJsonFile(path)
  if (typeof id !== 'string' || typeof key !== 'string')
    throw new CommandFailure(
      `The key file "${path}" needs the texts client_email and private_key.`,
      EXIT.usage,
    )
  return {
    client_id: id,
    client_secret: key,
    assertion: {
      algorithm: 'RS256' as const,
      ...assertion,
      ...(typeof keyId === 'string' && { key_id: keyId }),
    },
  }
}
