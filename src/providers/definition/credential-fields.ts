import { z } from 'zod'
import { patternFault } from '../callback-members.ts'
import { type CredentialField, type CredentialsSettings, fieldFault, LONGEST_VALUE } from '../credentials.ts'
import type { Provider, ProviderVariable } from '../provider.ts'
import { hasPlaceholder } from '../template.ts'
import { variableFault } from '../variables.ts'
import { withoutUndefined } from './member.ts'
import { refuse } from './refuse.ts'
import { variableName } from './url-variables.ts'

// The fields that people fill in, and what they are in URLs: variables that each user is asked for.

type Fields = CredentialsSettings['fields']

const field = z
  .object({
    label: z.string().max(100).optional().meta({ example: 'API key' }),
    secret: z
      .boolean()
      .optional()
      .meta({ description: 'Sealed and never shown again. A field that is not secret may be part of URLs.' }),
    pattern: z
      .string()
      .optional()
      .meta({ description: 'A regular expression that the whole value must match' }),
    one_of: z.array(z.string().min(1).max(255)).min(1).max(100).optional(),
    example: z.string().max(255).optional(),
    help_url: z
      .string()
      .max(1000)
      .refine((text) => /^https:\/\/\S+$/.test(text) && URL.canParse(text), 'must be an https URL')
      .optional()
      .meta({ description: 'Where people find the value, and delete it' }),
    max: z.number().int().min(1).max(LONGEST_VALUE).optional(),
    multiline: z.boolean().optional().meta({ description: 'The value has several lines, such as a PEM key' }),
  })
  .meta({ id: 'CredentialField' })

export const fieldsInput = z
  .record(
    variableName.refine((text) => !(text in Object.prototype), 'no name that every object of JavaScript has'),
    field,
  )
  .refine((fields) => Object.keys(fields).length > 0, 'at least one field')
  .refine((fields) => Object.keys(fields).length <= 10, 'at most 10 fields')
  .meta({
    description:
      'What people type on the page of Gatepass, in this order, at most 10 fields. URLs name fields that are not secret as `{{name}}`; such a field needs `pattern` or `one_of`, and `example`, and no value may decide a domain.',
    example: {
      domain: { label: 'Domain', pattern: '[a-z0-9-]{1,63}', example: 'acme' },
      api_key: { label: 'API key', secret: true, help_url: 'https://example.com/settings/api' },
    },
  })

export const fieldsAnswer = z.record(z.string(), field)

export function readFields(sent: z.output<typeof fieldsInput>): Fields {
  const fields = Object.fromEntries(
    Object.entries(sent).map(([name, said]) => [name, readField(`credentials.fields.${name}`, said)]),
  )
  if (!Object.values(fields).some(({ secret }) => secret))
    refuse('credentials.fields', 'has to have a secret field (secret: true)')
  return fields
}

function readField(path: string, sent: z.output<typeof field>): CredentialField {
  const { label, secret, pattern, one_of: oneOf, example, help_url: helpUrl, max, multiline } = sent
  if (oneOf !== undefined && pattern !== undefined)
    refuse(`${path}.one_of`, 'takes the place of pattern; leave one of them out')
  const fault = pattern === undefined ? undefined : patternFault(pattern)
  if (fault !== undefined) refuse(`${path}.pattern`, fault)
  if (secret && oneOf !== undefined) refuse(`${path}.one_of`, 'would list the secret')
  const read = withoutUndefined({
    label,
    secret: secret || undefined,
    pattern,
    oneOf,
    example,
    helpUrl,
    max: max ?? LONGEST_VALUE,
    multiline: multiline || undefined,
  }) as CredentialField // `max` is set
  const exampleFault = example === undefined || secret ? undefined : fieldFault(read, example)
  if (exampleFault !== undefined) refuse(`${path}.example`, exampleFault)
  return read
}

export function writeFields(fields: Fields): z.input<typeof fieldsAnswer> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { oneOf, helpUrl, max, ...same }]) => [
      name,
      withoutUndefined({
        ...same,
        one_of: oneOf && [...oneOf],
        help_url: helpUrl,
        max: max === LONGEST_VALUE ? undefined : max,
      }),
    ]),
  )
}

/** The fields that are not secret as variables of the URLs. Throws `invalid_request` for one that URLs cannot have. */
export function variablesOfFields(
  fields: Fields,
  urls: readonly string[],
): NonNullable<Provider['variables']> {
  const open = Object.entries(fields).filter(([, { secret }]) => !secret)
  return Object.fromEntries(
    open.map(([name, field]) => [name, asVariable(`credentials.fields.${name}`, name, field, urls)]),
  )
}

function asVariable(
  path: string,
  name: string,
  { label, example, pattern, oneOf }: CredentialField,
  urls: readonly string[],
): ProviderVariable {
  const isText = !urls.some((url) => hasPlaceholder(url, name))
  const shown = example ?? oneOf?.[0]
  const variable = withoutUndefined({
    pattern: pattern ?? '',
    oneOf,
    label,
    example,
    value: shown ?? '',
    askUser: true as const,
    isText: isText || undefined,
  }) as ProviderVariable // the required members are set
  if (isText) return variable
  if (pattern === undefined && oneOf === undefined)
    refuse(`${path}.pattern`, 'is required, or one_of, since a URL names the field')
  if (shown === undefined) refuse(`${path}.example`, 'is required, since a URL names the field')
  for (const value of oneOf ?? [variable.value]) {
    const fault = variableFault({ ...variable, value })
    if (fault !== undefined) refuse(`${path}.${oneOf === undefined ? 'example' : 'one_of'}`, fault)
  }
  return variable
}
