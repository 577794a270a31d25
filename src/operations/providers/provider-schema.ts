import { z } from '@hono/zod-openapi'
import { credentialsAnswer, credentialsInput } from '../../providers/definition/credentials-settings.ts'
import { definitionSchema } from '../../providers/definition/definition-schema.ts'
import { shapeOf } from '../../providers/definition/member.ts'
import { oauth1Answer, oauth1Input } from '../../providers/definition/oauth1-settings.ts'
import { OAUTH2_MEMBERS } from '../../providers/definition/oauth2-settings.ts'
import { CLIENT_MEMBERS, ENTRY_MEMBERS } from './entry-members.ts'

// The bodies of `/v1/admin/auth_providers`, in the shape of Arcade's API with the members that Gatepass adds.

const oauth2 = { ...CLIENT_MEMBERS, ...OAUTH2_MEMBERS }

const oauth1 = {
  input: oauth1Input.extend(shapeOf(CLIENT_MEMBERS, 'change')).nullish().meta({
    description:
      'Beyond Arcade, for `type` `oauth1`: a server of OAuth 1.0a (RFC 5849). Its tokens are handed out nowhere: Gatepass signs requests with them, in `/proxy/{provider}` and in HTTP tools. Members that are left out do not change; those that are sent are replaced as a whole.',
  }),
  answer: oauth1Answer.extend(shapeOf(CLIENT_MEMBERS, 'answer')).optional(),
}

const {
  id: _,
  description: __,
  type: ___,
  oauth2: ____,
  oauth1: _____,
  credentials: ______,
  ...ofDefinition
} = definitionSchema.shape
const { name, offline_access, ...ofCatalogue } = ofDefinition

export const providerCreateSchema = z
  .object({
    // only the catalogue uses these; they are checked, so that a definition file is good here and in a folder alike
    ...ofCatalogue,
    name: name.optional(),
    offline_access,
    ...shapeOf(ENTRY_MEMBERS, 'create'),
    oauth2: z.object(shapeOf(oauth2, 'create')).nullish(),
    oauth1: oauth1.input,
    credentials: credentialsInput.nullish(),
  })
  .openapi('AuthProviderCreateRequest')

/** Members that are left out do not change, also within a block. `null` removes an optional block or setting. */
export const providerPatchSchema = z
  .object({
    ...shapeOf(ENTRY_MEMBERS, 'change'),
    oauth2: z.object(shapeOf(oauth2, 'change')).nullish(),
    oauth1: oauth1.input,
    credentials: credentialsInput.nullish(),
  })
  .openapi('AuthProviderUpdateRequest')

export const providerResponseSchema = z
  .object({
    ...shapeOf(ENTRY_MEMBERS, 'answer'),
    oauth2: z.object(shapeOf(oauth2, 'answer')).optional(),
    oauth1: oauth1.answer,
    credentials: credentialsAnswer.optional(),
  })
  .openapi('AuthProviderResponse')

/** The `oauth2` member of a request that creates or changes an entry. */
export type OAuth2Body = NonNullable<z.output<typeof providerPatchSchema>['oauth2']>
export type ProviderWire = z.output<typeof providerResponseSchema>
