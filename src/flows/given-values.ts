import { invalidMember } from '../domain/errors.ts'
import { givenFaults } from '../providers/connection-values.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import type { ProviderNeed } from './acquire-tokens.ts'

/** The values that the caller gives for its user. Throws `invalid_request` for one that would be refused on the page. */
export function givenFor(
  { provider }: ProviderEntry,
  given: Readonly<Record<string, string>> | null | undefined,
  member: string,
): Pick<ProviderNeed, 'given'> {
  if (given == null || Object.keys(given).length === 0) return {}
  const faults = [...givenFaults(provider, given)].filter(([name]) => Object.hasOwn(given, name))
  const [first] = faults
  if (first === undefined) return { given }
  const [name, fault] = first
  const path = `${member}.${name}`
  throw invalidMember(path, 'invalid', `${path} ${fault}.`)
}
