import { z } from 'zod'
import { type CredentialPlace, type CredentialsSettings, fieldNames, isSegmentText } from '../credentials.ts'
import { checkTemplate, hasPlaceholder } from '../template.ts'
import { headersInput, readHeaders } from './header-templates.ts'
import { refuse } from './refuse.ts'

const template = z.string().min(1).max(1000)
const half = z.string().max(1000)

export const placeInput = z
  .object({
    bearer: template.optional(),
    basic: z.object({ username: half, password: half }).optional(),
    headers: headersInput,
    query: z
      .record(z.string().min(1).max(100), template)
      .refine((query) => Object.keys(query).length <= 10, 'at most 10 parameters')
      .optional(),
    path: z.string().min(1).max(200).optional(),
  })
  .meta({
    id: 'CredentialPlaceInput',
    description:
      'Where requests to the API have the credential, in exactly one way: `bearer` (RFC 6750), `basic` (RFC 7617, either half may be fixed or empty), `headers` with an own word before the key or none, `query`, or `path`, which is put before the path of each request (`/bot{{api_token}}`). The last two need `in_url`. The templates name fields as `{{name}}`, or `{{access_token}}` where there is a `token_request`.',
    example: { basic: { username: '{{api_key}}', password: 'X' } },
  })

export const placeAnswer = z.object({
  bearer: z.string().optional(),
  basic: z.object({ username: z.string(), password: z.string() }).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  query: z.record(z.string(), z.string()).optional(),
  path: z.string().optional(),
})

interface PlaceContext {
  readonly fields: CredentialsSettings['fields']
  /** A token request makes a token of the fields. */
  readonly hasToken: boolean
  readonly isInUrl: boolean
}

/** Throws `invalid_request` unless the templates put a secret into exactly one place. */
export function readPlace(sent: z.output<typeof placeInput>, context: PlaceContext): CredentialPlace {
  const path = 'credentials.place'
  const ways = Object.entries(sent).filter(([, value]) => value != null)
  if (ways.length !== 1) refuse(path, 'has to have exactly one of bearer, basic, headers, query, path')
  const { fields, hasToken, isInUrl } = context
  const secrets = hasToken ? ['access_token'] : fieldNames({ fields }, { secret: true })
  const names = [...secrets, ...fieldNames({ fields }, { secret: false })]
  if (sent.path !== undefined && hasToken)
    refuse(`${path}.path`, 'cannot have a token of token_request, whose form is not known')
  const place = oneOf(sent, names)
  if (!templatesOf(place).some((text) => secrets.some((name) => hasPlaceholder(text, name))))
    refuse(path, `has to name ${hasToken ? '{{access_token}}' : 'a secret field'}`)
  const inUrl = Object.keys(place).find((way) => way === 'query' || way === 'path')
  if ('path' in place) checkPath(place.path, secrets)
  if (inUrl !== undefined && !isInUrl)
    refuse(
      `${path}.${inUrl}`,
      'puts the key into the URL, where proxies and logs of others may keep it: use a header where the service takes one, else set credentials.in_url to true',
    )
  if (isInUrl && inUrl === undefined)
    refuse('credentials.in_url', 'has a meaning for credentials.place.query and credentials.place.path alone')
  return place
}

/** Fixed text and secrets, whose values are checked as segments (`secretFault`); others may hold a slash. */
function checkPath(text: string, secrets: readonly string[]): void {
  const filled = secrets.reduce((rest, name) => rest.replaceAll(`{{${name}}}`, 'x'), text)
  const [root, ...segments] = filled.split('/')
  if (root !== '' || !segments.every(isSegmentText))
    refuse(
      'credentials.place.path',
      'has to be segments that begin with a slash, of letters, digits and secret fields, such as /bot{{api_token}}',
    )
}

function oneOf(sent: z.output<typeof placeInput>, names: readonly string[]): CredentialPlace {
  const path = 'credentials.place'
  const { bearer, basic, query, path: before } = sent
  if (bearer !== undefined) return { bearer: readTemplate(`${path}.bearer`, bearer, names) }
  if (basic !== undefined)
    return {
      basic: {
        username: readTemplate(`${path}.basic.username`, basic.username, names),
        password: readTemplate(`${path}.basic.password`, basic.password, names),
      },
    }
  if (query !== undefined) {
    for (const [name, text] of Object.entries(query)) readTemplate(`${path}.query.${name}`, text, names)
    return { query }
  }
  if (before !== undefined) return { path: readTemplate(`${path}.path`, before, names) }
  return { headers: readHeaders(`${path}.headers`, sent.headers, names) ?? {} }
}

function readTemplate(path: string, text: string, names: readonly string[]): string {
  const fault = checkTemplate(text, names) ?? (/\p{Cc}/u.test(text) ? 'has control characters' : undefined)
  return fault === undefined ? text : refuse(path, fault)
}

/** All templates of a place. */
export function templatesOf(place: CredentialPlace): string[] {
  if ('bearer' in place) return [place.bearer]
  if ('basic' in place) return [place.basic.username, place.basic.password]
  if ('path' in place) return [place.path]
  return Object.values('headers' in place ? place.headers : place.query)
}
