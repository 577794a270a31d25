import { z } from '@hono/zod-openapi'
import { toTimestamp } from '../../domain/clock.ts'
import { invalidMember } from '../../domain/errors.ts'
import type { Definitions } from '../../providers/catalogue/definitions.ts'
import { OWNER } from '../../providers/definition/grant-settings.ts'
import { changed, memberOf } from '../../providers/definition/member.ts'
import { refuse } from '../../providers/definition/refuse.ts'
import { PROVIDER_TYPES, typeOf } from '../../providers/provider.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { ownerOf } from '../../providers/provider-grant.ts'
import { installationPath } from '../../services/users-origin.ts'
import { plainText } from '../schemas/fields.ts'
import { jsonValue } from '../schemas/json-schemas.ts'

// The members of a provider entry itself, beside the provider that it describes.

/** What an answer shows of an entry. */
export interface EntryView {
  readonly entry: ProviderEntry
  readonly redirectUri: string
  readonly hasSecret: boolean
  /** The settings without which the entry cannot be used. */
  readonly missing: readonly string[]
}

/** The members of an entry that a request sets. The secret is not sealed yet. */
export interface EntryModel
  extends Pick<ProviderEntry, 'id' | 'description' | 'wellKnownId' | 'externalId' | 'status' | 'clientId'> {
  readonly clientSecret?: string
}

export interface EntryContext {
  /** The entry that is changed; `undefined` for a new one. */
  readonly before: ProviderEntry | undefined
  readonly definitions: Definitions
  /** Whether a new entry may lack `client_id`: its client may come from the environment, or be set later. */
  readonly mayLackClient: boolean
}

const member = memberOf<EntryModel, EntryContext, EntryView>()
const input = <Schema extends z.ZodType>(schema: Schema) => ({ create: schema, change: schema })
/** Requests accept these members of answers, so that an answer can be sent back. They have no effect. */
const ignored = input(
  jsonValue.meta({ description: 'A member of answers; without effect in a request' }).optional(),
)
const id = plainText(100).regex(/^(?!\.{1,2}$)[^\s/\\?#%]+$/, 'must have no spaces and none of / \\ ? # %')

export const ENTRY_MEMBERS = {
  id: member({
    create: id,
    change: id.optional(),
    answer: z.string(),
    read(sent, { before }) {
      if (before !== undefined && sent !== undefined && sent !== before.id)
        refuse('id', 'never changes; make another provider instead')
      return { id: before?.id ?? sent }
    },
    write: ({ entry }) => entry.id,
  }),
  description: member({
    ...input(z.string().max(1000).nullish()),
    answer: z.string().optional(),
    read: (sent, { before }) => ({ description: changed(sent, before?.description) }),
    write: ({ entry }) => entry.description,
  }),
  provider_id: member({
    ...input(plainText(100).nullish()),
    answer: z.string().optional(),
    read(sent, { before, definitions }) {
      const name = changed(sent, before?.wellKnownId)
      return { wellKnownId: name && (definitions.find(name)?.id ?? name) }
    },
    write: ({ entry }) => entry.wellKnownId,
  }),
  external_id: member({
    create: z.string().max(50).nullish(),
    read: (sent, { before }) => ({ externalId: before?.externalId ?? sent ?? undefined }),
  }),
  owner: member({
    ...input(OWNER.input),
    answer: OWNER.answer,
    write: ({ entry }) => ownerOf(entry.provider),
  }),
  type: member({
    ...input(z.enum(PROVIDER_TYPES).nullish()),
    answer: z.enum(PROVIDER_TYPES).meta({ description: 'Also the member that has the settings' }),
    write: ({ entry }) => typeOf(entry.provider),
  }),
  status: member({
    ...input(
      z
        .enum(['active', 'inactive', 'missing'])
        .transform((status) => (status === 'inactive' ? status : 'active'))
        .nullish(),
    ),
    answer: z.enum(['active', 'inactive', 'missing']).meta({
      description:
        '`inactive`: switched off. `missing`: it cannot be used until the settings that `missing` names are set',
    }),
    read: (sent, { before }) => ({ status: sent ?? before?.status ?? 'active' }),
    write: ({ entry: { status }, missing }) =>
      status === 'active' && missing.length > 0 ? 'missing' : status,
  }),
  missing: member({
    ...ignored,
    answer: z.array(z.string()).optional().meta({ description: '`client_id`, `client_secret`' }),
    write: ({ missing }) => (missing.length > 0 ? [...missing] : undefined),
  }),
  binding: member({
    ...ignored,
    answer: z.object({ id: z.string(), type: z.literal('project') }),
    write: ({ entry }) => ({ id: entry.projectId, type: 'project' as const }),
  }),
  created_at: member({
    ...ignored,
    answer: z.string(),
    write: ({ entry }) => toTimestamp(entry.createdAt),
  }),
  updated_at: member({
    ...ignored,
    answer: z.string(),
    write: ({ entry }) => toTimestamp(entry.updatedAt),
  }),
  keep_connections: member({
    change: z.boolean().optional().meta({
      description:
        'Beyond Arcade: connections stay usable after a change of the endpoints, the issuer or the client id, and their tokens go to the new endpoints. The audit trail records it. Without it users must consent again after such a change.',
    }),
  }),
}

/** The broker's registration at the provider: members of `oauth2` that belong to the entry, not to its server. */
export const CLIENT_MEMBERS = {
  client_id: member({
    create: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .meta({ description: 'Required unless `provider_id` names a provider of the catalogue' }),
    change: z.string().min(1).max(1000).optional(),
    answer: z.string().optional(),
    read(sent, { before, mayLackClient }) {
      if (sent === undefined && before === undefined && !mayLackClient)
        throw invalidMember('oauth2.client_id', 'missing', 'oauth2.client_id is missing.')
      return { clientId: sent ?? before?.clientId }
    },
    write: ({ entry }) => entry.clientId,
  }),
  client_secret: member({
    ...input(
      z.string().max(20_000).nullish().meta({
        writeOnly: true,
        description:
          'Where `auth_method` says so, a private key in PEM or as a JWK, or a certificate with its chain and its key in PEM.',
      }),
    ),
    answer: z.object({ binding: z.literal('project'), editable: z.boolean(), exists: z.boolean() }),
    read: (sent) => ({ clientSecret: sent || undefined }),
    write: ({ hasSecret }) => ({ binding: 'project' as const, editable: true, exists: hasSecret }),
  }),
  redirect_uri: member({
    ...input(
      z.string().max(2000).nullish().meta({
        description:
          'Accepted so that an answer can be sent back. Gatepass determines it, so this has no effect.',
      }),
    ),
    answer: z.string(),
    write: ({ redirectUri }) => redirectUri,
  }),
  installation_url: member({
    ...ignored,
    answer: z.string().optional().meta({
      description: 'Where the provider sends users who begin there, if the entry has `installation`',
    }),
    write: ({ entry: { provider, uid }, redirectUri }) =>
      provider.installation && new URL(installationPath(uid), redirectUri).href,
  }),
}
