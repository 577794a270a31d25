import type { Definition } from '../../providers/definition/read-definition.ts'
import type { SimulatedEntry } from './main-job.ts'

/** How many of its scopes are asked for. */
const SCOPES = 3

/** The entry that an administrator would add for a definition of the catalogue: examples where it wants a value. */
export function catalogueEntry(
  { id, provider, facts }: Definition,
  scopes?: readonly string[],
): SimulatedEntry {
  const wanted = Object.entries(provider.variables ?? {}).filter(
    ([, { isExample, askUser }]) => isExample === true && askUser !== true,
  )
  const variables = Object.fromEntries(wanted.map(([name, { value }]) => [name, { value }]))
  const known = Object.keys(facts.scopes ?? {}).slice(0, SCOPES)
  const asked = scopes ?? (provider.defaultScopes.length > 0 ? undefined : known)
  return {
    body: { id, provider_id: id, ...(wanted.length > 0 && { oauth2: { variables } }) },
    ...(asked !== undefined && { scopes: asked }),
    client: { method: provider.tokenRequest.authMethod, algorithm: provider.clientAssertion?.algorithm },
  }
}
