import { z } from 'zod'
import { patternFault } from '../callback-members.ts'
import type { KeptValue, Provider } from '../provider.ts'
import { parseExpression } from '../response-map.ts'
import { PLACEHOLDERS } from '../template.ts'
import { refuse } from './refuse.ts'

// Values that the provider tells of each connection, such as the host of its API.

const SOURCES = ['authorization_response', 'token_response', 'user_info'] as const

const name = z
  .string()
  .regex(/^[A-Za-z][A-Za-z_]{0,39}$/, 'letters and _')
  .refine((text) => !PLACEHOLDERS.includes(text), 'a name that no other placeholder has')
const input = z.object({
  from: z.enum(SOURCES),
  at: z.string().min(1).max(500).optional(),
  pattern: z.string(),
})

export const keptValuesInput = z
  .record(name, input)
  .refine((record) => Object.keys(record).length <= 20, 'at most 20 values')
  .nullish()
  .meta({
    description:
      "Beyond Arcade: values that the provider tells of each connection and that are kept with its tokens. `api.base_url`, `api.headers` and the `params` and `headers` of `refresh_request` name them as `{{name}}`. `at` is a parameter of the authorization response, else an expression such as `$.instance_url`; the value's own name when it is left out. `pattern` is a regular expression that the whole value must match. The authorization response comes through the user's browser.",
    example: {
      instance_url: { from: 'token_response', pattern: 'https://[a-z0-9-]+\\.my\\.salesforce\\.com' },
    },
  })

export const keptValuesAnswer = z
  .record(z.string(), z.object({ from: z.enum(SOURCES), at: z.string(), pattern: z.string() }))
  .optional()

/** Throws `invalid_request` for a pattern or an expression that is none. */
export function readKeptValues(
  sent: z.output<typeof keptValuesInput>,
  before: Provider['keptValues'],
): Provider['keptValues'] {
  if (sent === undefined) return before
  const read = Object.entries(sent ?? {}).map(([name, { from, at, pattern }]): [string, KeptValue] => {
    const path = `oauth2.kept_values.${name}`
    const fault = patternFault(pattern)
    if (fault !== undefined) refuse(`${path}.pattern`, fault)
    const place = at ?? (from === 'authorization_response' ? name : `$.${name}`)
    const parsed = from === 'authorization_response' ? undefined : parseExpression(place)
    if (parsed !== undefined && 'fault' in parsed) refuse(`${path}.at`, parsed.fault)
    return [name, { from, at: place, pattern }]
  })
  return read.length > 0 ? Object.fromEntries(read) : undefined
}
