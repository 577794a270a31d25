import { z } from 'zod'
import { ENDPOINT_ROLES, type EndpointRole } from '../endpoint-role.ts'
import { PROVIDER_TYPES } from '../provider.ts'
import { credentialsDefined } from './credentials-settings.ts'
import { OWNER } from './grant-settings.ts'
import { shapeOf } from './member.ts'
import { oauth1Defined } from './oauth1-settings.ts'
import { OAUTH2_MEMBERS } from './oauth2-settings.ts'

// The schema of a definition file: `oauth2`, `oauth1` or `credentials` as in `POST /v1/admin/auth_providers`, without the client,
// and the facts that a catalogue shows.

export const CATEGORIES = [
  'ai',
  'analytics',
  'calendar',
  'commerce',
  'communication',
  'content',
  'crm',
  'data',
  'design',
  'development',
  'education',
  'email',
  'files',
  'finance',
  'games',
  'health',
  'hr',
  'identity',
  'iot',
  'legal',
  'maps',
  'marketing',
  'media',
  'monitoring',
  'music',
  'other',
  'productivity',
  'project-management',
  'sales',
  'search',
  'security',
  'social',
  'sports',
  'storage',
  'support',
  'transport',
  'travel',
  'video',
] as const

/** The values that the page where a client is registered asks for or gives. */
const REGISTRATION_FIELDS = ['redirect_uri', 'client_id', 'client_secret', 'scopes'] as const

const words = (max: number) => z.string().min(1).max(max)
const webPage = z
  .string()
  .max(1000)
  .refine((text) => /^https:\/\/\S+$/.test(text) && URL.canParse(text), 'must be an https URL')
const slug = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and -')

/** What a scope means, with translations, a level or a mark besides the English sentence. */
const scopeWords = z.strictObject({
  text: z.union([
    words(200),
    z
      .object({ en: words(200) })
      .catchall(words(200))
      .refine(
        (texts) => Object.keys(texts).every((language) => /^[a-z]{2}$/.test(language)),
        'must have two-letter language codes such as `de` as names',
      ),
  ]),
  level: z
    .enum(['read', 'write', 'admin'])
    .optional()
    .meta({ description: '`read`: see data; `write`: change data; `admin`: control the account' }),
  sensitive: z
    .boolean()
    .optional()
    .meta({ description: 'Whether the connect page marks the scope, such as one for e-mail or money' }),
})

// `environment_client` confirms the endpoints of one entry, so a definition cannot have it
const { environment_client: _, ...DEFINED } = OAUTH2_MEMBERS

export const definitionSchema = z
  .object({
    $schema: z.string().max(1000).optional(),
    id: slug.meta({ description: 'In URLs and stored rows; it never changes', example: 'zendesk' }),
    name: words(100).meta({ description: 'What people call the provider', example: 'Zendesk' }),
    description: words(1000).optional(),
    also_known_as: z
      .array(words(100))
      .max(20)
      .optional()
      .meta({ description: 'Other names, by which a search finds the provider' }),
    category: z.enum(CATEGORIES).optional(),
    owner: OWNER.input,
    type: z.enum(PROVIDER_TYPES).optional().meta({
      description: 'Which member has the settings. Left out: the one that is there.',
    }),
    oauth2: z.object(shapeOf(DEFINED, 'create')).optional().meta({
      description:
        'The authorization server and the requests to it, as `oauth2` of `POST /v1/admin/auth_providers` without the client. A member that is left out is as the RFCs have it.',
    }),
    oauth1: oauth1Defined.optional(),
    credentials: credentialsDefined.optional(),
    offline_access: z
      .object({
        params: z.record(words(200), z.string().max(2000)).optional(),
        scopes: z.array(words(300)).max(20).optional(),
      })
      .optional()
      .meta({
        description:
          'Parameters and scopes that the authorization request needs for the provider to issue a refresh token. Left out: it needs none, or the provider issues no refresh tokens.',
        example: { params: { access_type: 'offline' }, scopes: ['offline_access'] },
      }),
    other_endpoints: z
      .object(roles(z.array(z.string().max(1000)).max(50).optional()))
      .optional()
      .meta({
        description:
          'Further addresses of the endpoints, of other versions or hosts, by which the provider is recognized. They may name variables as `{{name}}`.',
      }),
    second_way_of: slug.optional().meta({
      description:
        'The id of another definition of the same service, whose users give access in another way: `github` for the API keys of GitHub',
      example: 'github',
    }),
    shares_endpoints_with: slug.optional().meta({
      description:
        'The id of another definition that has the same endpoints. An entry with these endpoints is recognized as the other definition; this definition is used only where its id is named.',
    }),
    registration: z
      .object({
        url: webPage.meta({ description: 'The page where a client is registered' }),
        steps: z.array(words(300)).max(20).optional(),
        fields: z
          .partialRecord(z.enum(REGISTRATION_FIELDS), words(100))
          .optional()
          .meta({
            description: 'What that page calls the values',
            example: { redirect_uri: 'Redirect URLs', client_id: 'Unique identifier' },
          }),
      })
      .optional(),
    scopes: z
      .record(words(300), z.union([words(200), scopeWords]))
      .optional()
      .meta({
        description:
          'Scopes, each with a sentence in plain words that users read: a verb first, no full stop. A name with `*`, which fits any characters, is for all scopes that no exact name or longer pattern describes.',
        example: {
          'orders.read': 'See your orders',
          'orders.*': { text: 'Change your orders', level: 'write' },
        },
      }),
    documentation: webPage.optional(),
    sources: z.array(webPage).max(50).optional(),
    checked: z
      .string()
      .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date such as 2026-11-22')
      .optional(),
    verified: z
      .boolean()
      .optional()
      .meta({ description: 'Whether two sources, or a document of the provider, confirm its endpoints' }),
    logo: slug
      .optional()
      .meta({ description: 'The slug of a logo of the catalogue, which has those of simple-icons' }),
  })
  .meta({
    title: 'Provider of Gatepass',
    description: 'The definition of one provider, with one of `oauth2`, `oauth1` and `credentials`',
  })

export type DefinitionInput = z.output<typeof definitionSchema>

function roles<Schema extends z.ZodType>(schema: Schema): Record<EndpointRole, Schema> {
  // each role is a member
  return Object.fromEntries(ENDPOINT_ROLES.map((role) => [role, schema])) as Record<EndpointRole, Schema>
}
