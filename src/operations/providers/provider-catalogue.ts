import { z } from '@hono/zod-openapi'
import { BrokerError } from '../../domain/errors.ts'
import { didYouMean } from '../../domain/nearest.ts'
import { definitionTexts } from '../../providers/catalogue/definition-texts.ts'
import {
  type CatalogueEntry,
  type CatalogueFilter,
  entriesWith,
  searchCatalogue,
} from '../../providers/catalogue/search.ts'
import { writeDefined } from '../../providers/definition/provider-types.ts'
import type { Definition } from '../../providers/definition/read-definition.ts'
import { PROVIDER_TYPES } from '../../providers/provider.ts'
import { defineOperation } from '../operation.ts'
import { idText, plainText } from '../schemas/fields.ts'
import { jsonObject } from '../schemas/json-schemas.ts'
import { pageQuery, pageSchema, slicePage } from '../schemas/page.ts'

const tag = 'Providers'

const entrySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    also_known_as: z.array(z.string()),
    category: z.string(),
    verified: z
      .boolean()
      .meta({ description: 'Whether two sources, or a document of the provider, confirm its endpoints' }),
    type: z
      .enum(PROVIDER_TYPES)
      .meta({ description: '`credentials`: users type an API key or the like, and no client is registered' }),
    without_user: z.boolean().meta({
      description: 'Whether the client asks for tokens without a user: the project owns the connections',
    }),
    second_way_of: z.string().optional().meta({
      description: 'The id of another definition of the same service, whose users give access in another way',
    }),
    variables: z.array(z.string()).meta({
      description: 'What a new provider needs besides its client, such as a subdomain',
    }),
    documentation: z.string().optional(),
  })
  .openapi('CatalogueEntry')

export const listProviderCatalogue = defineOperation({
  id: 'listProviderCatalogue',
  sdk: 'admin.providers.catalogue.list()',
  method: 'get',
  path: '/v1/admin/provider_catalogue',
  role: 'readonly',
  tag,
  summary: 'The providers that Gatepass knows',
  description: 'Their ids are what `provider_id` of a new provider may name.',
  query: z.object({
    ...pageQuery,
    search: plainText(100).optional().meta({ description: 'A part of the id or of a name' }),
    category: plainText(100).optional(),
    verified: z.enum(['true', 'false']).optional(),
  }),
  answer: 'One page',
  output: pageSchema(entrySchema),
  run(broker, { query: { search, category, verified, offset, limit } }) {
    const isVerified = verified === undefined ? undefined : verified === 'true'
    return cataloguePage(broker.definitions.own, { search, category, isVerified }, { offset, limit })
  },
})

export const getCatalogueDefinition = defineOperation({
  id: 'getCatalogueDefinition',
  sdk: 'admin.providers.catalogue.get(id)',
  method: 'get',
  path: '/v1/admin/provider_catalogue/{id}',
  role: 'readonly',
  tag,
  summary: 'One provider that Gatepass knows, with its whole definition',
  description: 'In the form of `/schemas/provider.json`.',
  params: z.object({ id: idText }),
  answer: 'The definition',
  output: jsonObject,
  run: (broker, { params: { id } }) => catalogueDocument(broker.definitions.own, id),
})

/** One page of the catalogue with the operator's `own` definitions. */
export function cataloguePage(
  own: readonly Definition[],
  filter: CatalogueFilter,
  page: { readonly offset: number; readonly limit: number },
) {
  const all = entriesWith(own)
  checkCategory(all, filter.category)
  return slicePage(searchCatalogue(all, filter).map(entryToWire), page)
}

/** The whole definition of that id. Throws `not_found`. */
export function catalogueDocument(own: readonly Definition[], id: string): Record<string, unknown> {
  const name = id.toLowerCase()
  const ofOperator = own.find((definition) => definition.id === name)
  if (ofOperator !== undefined) return documentOf(ofOperator)
  const text = definitionTexts().get(name)
  if (text !== undefined) return JSON.parse(text)
  const names = entriesWith(own).flatMap((entry) => [entry.id, ...entry.alsoKnownAs])
  throw new BrokerError(
    'not_found',
    `The catalogue has no provider "${id}".${didYouMean(id, names)} GET /v1/admin/provider_catalogue and \`gatepass providers list --catalogue\` list them all.`,
  )
}

/** The operator's definition in the form of a definition file. */
function documentOf({ provider, offlineAccess, facts }: Definition) {
  return {
    ...facts,
    ...writeDefined(provider),
    ...(offlineAccess !== undefined && { offline_access: offlineAccess }),
  }
}

function checkCategory(all: readonly CatalogueEntry[], category: string | undefined): void {
  const known = new Set(all.map((entry) => entry.category))
  if (category !== undefined && !known.has(category))
    throw new BrokerError(
      'invalid_request',
      `category: there is no category "${category}".${didYouMean(category, known)} The categories are ${[...known].sort().join(', ')}.`,
    )
}

function entryToWire({
  id,
  name,
  alsoKnownAs,
  category,
  isVerified,
  type,
  isUserless,
  secondWayOf,
  asksFor,
  documentation,
}: CatalogueEntry): z.input<typeof entrySchema> {
  return {
    id,
    name,
    also_known_as: [...alsoKnownAs],
    category,
    verified: isVerified,
    type,
    without_user: isUserless,
    second_way_of: secondWayOf,
    variables: [...asksFor],
    documentation,
  }
}
