import { signsGrants } from '../../providers/client-key.ts'
import type { Definition } from '../../providers/definition/read-definition.ts'
import { typeOf } from '../../providers/provider.ts'
import { tokenRequestIn } from '../../providers/provider-endpoints.ts'
import type { SimulatedEntry } from './job.ts'

/** How many scopes are requested if the definition has no default scopes. */
const REQUESTED_SCOPES = 3

/** The entry that an administrator would add for a definition of the catalogue. Variables have the example values. */
export function catalogueEntry(
  { id, provider, facts }: Definition,
  scopes?: readonly string[],
): SimulatedEntry {
  const wanted = Object.entries(provider.variables ?? {}).filter(
    ([, { isExample, askUser }]) => isExample === true && askUser !== true,
  )
  const type = typeOf(provider)
  const variables = Object.fromEntries(wanted.map(([name, { value }]) => [name, { value }]))
  const body = { id, provider_id: id, type, ...(wanted.length > 0 && { [type]: { variables } }) }
  if (type !== 'oauth2') return { body }
  const known = Object.keys(facts.scopes ?? {}).slice(0, REQUESTED_SCOPES)
  const asked = scopes ?? (provider.defaultScopes.length > 0 ? undefined : known)
  return {
    body,
    ...(asked !== undefined && { scopes: asked }),
    ...(provider.grant && { grant: provider.grant.type }),
    hasChoice: provider.choicesRequest !== undefined,
    client: signsGrants(provider)
      ? { method: 'private_key_jwt', algorithm: provider.assertion?.algorithm }
      : { method: tokenRequestIn(provider).authMethod, algorithm: provider.clientAssertion?.algorithm },
  }
}
