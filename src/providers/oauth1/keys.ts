import type { Provider } from '../provider.ts'
import type { Client } from '../provider-entry.ts'
import { renderTemplate } from '../template.ts'
import type { SigningKeys } from './signature.ts'

/** The keys for requests of the client with its token. Throws for an entry of another type. */
export function signingKeys(
  { oauth1, variables = {}, displayName }: Provider,
  { clientId, clientSecret = '' }: Client,
  token: Pick<SigningKeys, 'token' | 'tokenSecret'> = {},
): SigningKeys {
  if (oauth1 === undefined) throw new Error(`${displayName} signs no requests: the entry is of another type`)
  const values = Object.fromEntries(Object.entries(variables).map(([name, { value }]) => [name, value]))
  const realm = oauth1.realm && renderTemplate(oauth1.realm, { kept: values })
  return { signatureMethod: oauth1.signatureMethod, realm, clientId, clientSecret, ...token }
}
