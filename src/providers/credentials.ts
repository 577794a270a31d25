import { isAllowed } from './callback-members.ts'

// Credentials that people type: API keys, user names with passwords, and several fields together.

/** What an entry of the type `credentials` asks for, and where it puts what was typed. */
export interface CredentialsSettings {
  /** In the order of the form. */
  readonly fields: Readonly<Record<string, CredentialField>>
  readonly place: CredentialPlace
  /** Values that could not be checked are stored too: there is no test request, or it gave no clear answer. */
  readonly unchecked?: true
}

export interface CredentialField {
  /** What people call it: `API key`. */
  readonly label?: string
  /** A value as people would enter it. */
  readonly example?: string
  /** RE2 expression that the whole value must match. */
  readonly pattern?: string
  readonly oneOf?: readonly string[]
  /** Sealed, never shown again, and typed into a password field. */
  readonly secret?: true
  /** The page of the service where the value is found, and deleted. */
  readonly helpUrl?: string
  /** The most characters. */
  readonly max: number
  /** The value may have line breaks. */
  readonly multiline?: true
}

/** Templates that name fields, or `{{access_token}}` where a token request makes a token of them. */
export type CredentialPlace =
  | { readonly bearer: string }
  | { readonly basic: { readonly username: string; readonly password: string } }
  | { readonly headers: Readonly<Record<string, string>> }
  | { readonly query: Readonly<Record<string, string>> }
  /** Put before the path of each request. */
  | { readonly path: string }

/** The most characters of a value, unless the field says fewer. */
export const LONGEST_VALUE = 4_096

/** The values of the secret fields, by their names. */
export type SecretValues = Readonly<Record<string, string>>

/** The names of the fields that are, or are not, secret. */
export function fieldNames(
  { fields }: Pick<CredentialsSettings, 'fields'>,
  kind: { readonly secret: boolean },
): string[] {
  return Object.entries(fields).flatMap(([name, { secret = false }]) =>
    secret === kind.secret ? [name] : [],
  )
}

/** What is wrong with a typed value; completes a sentence that begins with the field's name, and never holds the value. */
export function fieldFault(field: CredentialField, value: string): FieldFault | undefined {
  if (value === '') return 'is missing'
  if (value.length > field.max) return 'is too long'
  const lines = field.multiline === true ? value.replaceAll(/\r?\n/g, ' ') : value
  if (/\p{Cc}/u.test(lines)) return 'has control characters'
  const { pattern, oneOf } = field
  if (pattern === undefined && oneOf === undefined) return undefined
  return isAllowed({ pattern: pattern ?? '', ...(oneOf && { oneOf }) }, value)
    ? undefined
    : oneOf === undefined
      ? 'is not in the right form'
      : `is not one of ${oneOf.join(', ')}`
}

/**
 * As `fieldFault`, for a secret: a header takes visible ASCII alone (RFC 9110 section 5.5), and a path what stays within
 * its segment in every reading of a server.
 */
export function secretFault(
  { fields, place }: CredentialsSettings,
  name: string,
  value: string,
): FieldFault | undefined {
  const field = fields[name]
  if (field === undefined) return undefined
  const isInHeader = 'bearer' in place || 'headers' in place
  const isWrong = (isInHeader && !isHeaderText(value)) || ('path' in place && !isSegmentText(value))
  return fieldFault(field, value) ?? (isWrong ? 'is not in the right form' : undefined)
}

/** Whether no server reads a slash, a step to another folder, a path parameter or an encoded character in it. */
export function isSegmentText(value: string): boolean {
  return /^[\w~.:@!$'()*+,=-]+$/.test(value) && !/^\.{1,2}$/.test(value)
}

function isHeaderText(value: string): boolean {
  return /^[\x20-\x7e]+$/.test(value)
}

export type FieldFault =
  | 'is missing'
  | 'is too long'
  | 'has control characters'
  | 'is not in the right form'
  | `is not one of ${string}`

/** The secret values as the one text that a connection seals in place of an access token. */
export function writeSecrets(values: SecretValues): string {
  return JSON.stringify(values)
}

/** Reads what `writeSecrets` wrote. */
export function readSecrets(text: string): SecretValues {
  return JSON.parse(text) as SecretValues // only `writeSecrets` makes it, and it is sealed
}
