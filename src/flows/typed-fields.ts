import { type ConnectionValues, givenFaults } from '../providers/connection-values.ts'
import {
  type CredentialsSettings,
  fieldNames,
  type SecretValues,
  secretFault,
} from '../providers/credentials.ts'
import type { Provider } from '../providers/provider.ts'

/**
 * The values of the secret fields. Spaces and line breaks around a key come with copying, and belong to no key; nor do
 * the line breaks that forms send (CRLF).
 */
export function typedSecrets(credentials: CredentialsSettings, typed: ConnectionValues): SecretValues {
  const names = fieldNames(credentials, { secret: true })
  return Object.fromEntries(
    names.map((name) => {
      const value = Object.hasOwn(typed, name) ? (typed[name] ?? '') : ''
      return [name, value.trim().replaceAll('\r\n', '\n')]
    }),
  )
}

/** What is wrong with the values of all fields, by the field's name. No fault holds a value. */
export function faultsOfFields(
  provider: Provider,
  credentials: CredentialsSettings,
  given: ConnectionValues,
  secrets: SecretValues,
): ReadonlyMap<string, string> {
  const ofSecrets = Object.entries(secrets).flatMap(([name, value]) => {
    const fault = secretFault(credentials, name, value)
    return fault === undefined ? [] : [[name, fault] as const]
  })
  return new Map([...givenFaults(provider, given), ...ofSecrets])
}
