import { z } from 'zod'
import { anyOf, isAllowed, patternFault } from '../callback-members.ts'
import type { KeptValue, Provider } from '../provider.ts'
import { parseExpression } from '../response-map.ts'
import { PLACEHOLDERS } from '../template.ts'
import { withoutUndefined } from './member.ts'
import { refuse } from './refuse.ts'

// Values that the provider returns for each connection, such as the host of its API.

const SOURCES = ['authorization_response', 'token_response', 'user_info', 'choice'] as const

const name = z
  .string()
  .regex(/^[A-Za-z][A-Za-z_]{0,39}$/, 'letters and _')
  .refine((text) => !PLACEHOLDERS.includes(text), 'a name that no other placeholder has')
const input = z.object({
  from: z.enum(SOURCES),
  at: z.string().min(1).max(500).optional(),
  pattern: z.string().optional(),
  one_of: z.array(z.string().min(1).max(500)).min(1).max(100).optional(),
  example: z.string().min(1).max(500).optional(),
})

export const keptValuesInput = z
  .record(name, input)
  .refine((record) => Object.keys(record).length <= 20, 'at most 20 values')
  .nullish()
  .meta({
    description:
      "Beyond Arcade: values that the provider returns for each connection, stored with its tokens. `api.base_url`, `api.headers` and the `params` and `headers` of `refresh_request` use them as `{{name}}`. `at` says where the value is: the name of a parameter of the authorization response, otherwise an expression such as `$.instance_url`. If it is left out, it is the value's own name. With `choice` it is an expression within the item of `choices_request` that the user chose. `pattern` is a regular expression that the whole value must match; `one_of` lists the permitted values instead. All endpoints but the authorization endpoint can use values of the authorization response, if the domain is fixed by the URL, the pattern or `one_of`, because this response comes through the user's browser.",
    example: {
      instance_url: { from: 'token_response', pattern: 'https://[a-z0-9-]+\\.my\\.salesforce\\.com' },
    },
  })

export const keptValuesAnswer = z
  .record(
    z.string(),
    z.object({
      from: z.enum(SOURCES),
      at: z.string(),
      pattern: z.string().optional(),
      one_of: z.array(z.string()).optional(),
      example: z.string().optional(),
    }),
  )
  .optional()

/** Reads the kept values; left out: unchanged. Throws `invalid_request` for an invalid pattern or expression. */
export function readKeptValues(
  sent: z.output<typeof keptValuesInput>,
  before: Provider['keptValues'],
): Provider['keptValues'] {
  if (sent === undefined) return before
  const read = Object.entries(sent ?? {}).map(([name, { from, at, ...said }]): [string, KeptValue] => {
    const path = `oauth2.kept_values.${name}`
    const allowed = readAllowed(path, said)
    const place = at ?? (from === 'authorization_response' ? name : `$.${name}`)
    const parsed = from === 'authorization_response' ? undefined : parseExpression(place)
    if (parsed !== undefined && 'fault' in parsed) refuse(`${path}.at`, parsed.fault)
    const { example } = said
    if (example !== undefined && !isAllowed(allowed, example))
      refuse(`${path}.example`, 'is not a value that would be kept')
    return [name, { from, at: place, ...allowed, ...(example !== undefined && { example }) }]
  })
  return read.length > 0 ? Object.fromEntries(read) : undefined
}

/** Refuses values of a choice that no request offers, and a choice of which nothing is kept. */
export function checkChoice({ choicesRequest, keptValues = {} }: Provider): void {
  const chosen = Object.entries(keptValues).find(([, { from }]) => from === 'choice')
  if (chosen !== undefined && choicesRequest === undefined)
    refuse(`oauth2.kept_values.${chosen[0]}.from`, 'is choice, so oauth2.choices_request is required')
  if (chosen === undefined && choicesRequest !== undefined)
    refuse('oauth2.choices_request', 'has no use unless a value of oauth2.kept_values is from the choice')
}

function readAllowed(
  path: string,
  { pattern, one_of: oneOf }: Pick<z.output<typeof input>, 'pattern' | 'one_of'>,
): Pick<KeptValue, 'pattern' | 'oneOf'> {
  if (oneOf !== undefined && pattern !== undefined)
    return refuse(`${path}.one_of`, 'takes the place of pattern; leave one of them out')
  if (oneOf !== undefined) return { pattern: anyOf(oneOf), oneOf }
  if (pattern === undefined) return refuse(`${path}.pattern`, 'is required, or one_of with the only values')
  const fault = patternFault(pattern)
  if (fault !== undefined) refuse(`${path}.pattern`, fault)
  return { pattern }
}

export function writeKeptValues(
  keptValues: NonNullable<Provider['keptValues']>,
): z.input<typeof keptValuesAnswer> {
  return Object.fromEntries(
    Object.entries(keptValues).map(([name, { from, at, pattern, oneOf, example }]) => [
      name,
      withoutUndefined({ from, at, ...(oneOf ? { one_of: [...oneOf] } : { pattern }), example }),
    ]),
  )
}
