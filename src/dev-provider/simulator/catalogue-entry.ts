import type { Definition } from '../../providers/definition/read-definition.ts'
import type { SimulatedEntry } from './main-job.ts'

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
  const variables = Object.fromEntries(wanted.map(([name, { value }]) => [name, { value }]))
  const known = Object.keys(facts.scopes ?? {}).slice(0, REQUESTED_SCOPES)
  const asked = scopes ?? (provider.defaultScopes.length > 0 ? undefined : known)
  return {
    body: { id, provider_id: id, ...(wanted.length > 0 && { oauth2: { variables } }) },
    ...(asked !== undefined && { scopes: asked }),
    client: { method: provider.tokenRequest.authMethod, algorithm: provider.clientAssertion?.algorithm },
  }
}
