import { setImmediate } from 'node:timers/promises'
import { z } from '@hono/zod-openapi'
import { defineOperation } from '../../operations/operation.ts'
import { providerResponseSchema } from '../../operations/providers/provider-schema.ts'
import { idText } from '../../operations/schemas/fields.ts'
import { jsonValue } from '../../operations/schemas/json-schemas.ts'
import { pageQuery, pageSchema, slicePage } from '../../operations/schemas/page.ts'
import { addPack as add } from './wire-add.ts'
import {
  checkNames,
  getPackOf,
  packDetailSchema,
  packSummarySchema,
  packToolSchema,
  toDetail,
  toSummary,
  toTool,
} from './wire-pack.ts'
import { findPack, knownPackIds, ownPacks } from './wire-packs.ts'
import { updatePack as update } from './wire-update.ts'
import { chosenTools } from './wire-worker.ts'

const tag = 'Tool packs'

const packListSchema = pageSchema(packSummarySchema).extend({
  faults: z
    .array(z.object({ folder: z.string(), message: z.string() }))
    .meta({ description: 'The packs of the folder `GATEPASS_PACKS` that cannot be used, and why' }),
})

export const listPacks = defineOperation({
  id: 'listPacks',
  sdk: 'admin.packs.list()',
  method: 'get',
  path: '/v1/packs',
  role: 'readonly',
  tag,
  summary: 'All tool packs',
  description: 'Ready-made tools of services. They are data: `gatepass packs add` registers one.',
  query: z.object(pageQuery),
  answer: 'A page, by id',
  output: packListSchema,
  run: async (broker, { query }) => {
    const page = slicePage(await knownPackIds(broker), query)
    const items: z.infer<typeof packSummarySchema>[] = []
    for (const id of page.items) {
      await setImmediate() // the first time the files of a pack are read
      const known = await findPack(broker, id)
      if (known !== undefined) items.push(toSummary(known))
    }
    const { faults } = await ownPacks(broker)
    return {
      ...page,
      items,
      faults: [...faults].map(([folder, messages]) => ({ folder, message: messages.join(' ') })),
    }
  },
})

export const getPack = defineOperation({
  id: 'getPack',
  sdk: 'admin.packs.get(id)',
  method: 'get',
  path: '/v1/packs/{id}',
  role: 'readonly',
  tag,
  summary: 'One tool pack, and what registers it',
  params: z.object({ id: idText }),
  query: z.object({
    read_only: z
      .enum(['true', 'false'])
      .default('false')
      .meta({ description: 'Only tools that change nothing' }),
    tools: z
      .string()
      .max(10_000)
      .optional()
      .meta({ description: 'Only these tools: their names, separated by commas' }),
    provider_id: idText.optional().meta({
      description:
        'The id of the provider entry whose tokens they use; any entry of the pack’s provider unless given',
    }),
  }),
  answer: 'The pack',
  output: packDetailSchema,
  run: async (broker, { params: { id }, query }) => {
    const known = await getPackOf(broker, id)
    const tools = query.tools?.split(',').map((name) => name.trim())
    checkNames(known, tools)
    return toDetail(known, { readOnly: query.read_only === 'true', tools, providerId: query.provider_id })
  },
})

const newPackSchema = z
  .strictObject({
    id: idText.meta({ description: 'The id of the pack, and of its worker and its toolset' }),
    read_only: z.boolean().default(false).meta({ description: 'Only tools that change nothing' }),
    tools: z.array(z.string().max(200)).min(1).max(200).optional().meta({ description: 'Only these tools' }),
    provider_id: idText.optional().meta({
      description:
        'The id of the provider entry whose tokens they use; any entry of the pack’s provider unless given',
    }),
    approvals: z
      .union([z.literal('user'), z.strictObject({ group: idText }), z.literal(false)])
      .default('user')
      .meta({
        description:
          'Who approves calls that destroy something or reach other people: the user, or people of a group. `false`: no policy is made',
      }),
  })
  .openapi('NewPack')

const addedPackSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    tools: z.array(packToolSchema),
    scopes: z.array(z.string()).meta({ description: 'Of all these tools together' }),
    worker: z.object({ id: z.string() }),
    toolset: z
      .object({ id: z.string(), url: z.string() })
      .optional()
      .meta({ description: 'The selection of these tools, and its address for MCP clients' }),
    policy: z
      .object({ id: z.string() })
      .optional()
      .meta({ description: 'The policy that asks for approvals' }),
    providers: z.array(providerResponseSchema).meta({
      description: 'The entries whose connections the tools use. `missing` says what an entry still needs',
    }),
    made: z
      .array(z.string())
      .meta({ description: 'What was made, such as `provider google`; the rest was there' }),
  })
  .openapi('AddedPack')

export const addPack = defineOperation({
  id: 'addPack',
  sdk: 'admin.packs.add(pack)',
  method: 'post',
  path: '/v1/packs',
  role: 'admin',
  tag,
  summary: 'Add the tools of a pack',
  description:
    'Makes, in this order, the policy for calls that people should approve, the provider entry where there is none, a toolset, and the worker. If a step fails, what was made is deleted again.',
  body: newPackSchema,
  takesIdempotencyKey: true,
  status: 201,
  answer: 'Added',
  output: addedPackSchema,
  async run(broker, { body, ...by }) {
    const known = await getPackOf(broker, body.id)
    checkNames(known, body.tools)
    const { pack } = known
    const choice = {
      readOnly: body.read_only,
      tools: body.tools,
      providerId: body.provider_id,
      approvals: body.approvals,
    }
    const { made, ...parts } = await add(broker, by, pack, choice)
    const tools = chosenTools(pack, choice).map((tool) => toTool(pack, tool))
    return {
      id: pack.id,
      name: pack.name,
      tools,
      scopes: [...new Set(tools.flatMap(({ scopes }) => scopes))],
      worker: { id: pack.id },
      ...parts,
      made,
    }
  },
})

const packUpdateSchema = z
  .object({
    id: z.string(),
    version: z.string().meta({ description: 'Of the pack whose definitions these are' }),
    dry_run: z.boolean(),
    unchanged: z.number().int().meta({ description: 'How many tools have these definitions already' }),
    changed: z.array(
      z.object({
        name: z.string(),
        members: z
          .array(z.object({ at: z.string(), before: jsonValue.optional(), after: jsonValue.optional() }))
          .meta({ description: 'What differs, by JSON Pointers into the description of the request' }),
      }),
    ),
    gone: z.array(z.string()).meta({ description: 'Tools that the pack no longer has: they are removed' }),
    new: z.array(z.string()).meta({ description: 'Tools of the pack that are not added, now or before' }),
    waiting: z.array(z.string()).optional().meta({
      description:
        'Tools whose definitions the worker’s pinning holds until an administrator accepts them; absent in a dry run',
    }),
  })
  .openapi('PackUpdate')

export const updatePack = defineOperation({
  id: 'updatePack',
  sdk: 'admin.packs.update(id)',
  method: 'post',
  path: '/v1/packs/{id}/update',
  role: 'admin',
  tag,
  summary: 'Take the present definitions of a pack',
  description:
    'Of the tools that were added, with the provider entry that was chosen then. Tools that the pack has beside them are not added.',
  params: z.object({ id: idText }),
  body: z.strictObject({
    dry_run: z.boolean().default(false).meta({ description: 'Only say what would change' }),
  }),
  bodyIsOptional: true,
  answer: 'What changed',
  output: packUpdateSchema,
  async run(broker, { params: { id }, body, ...by }) {
    const { pack } = await getPackOf(broker, id)
    const diff = await update(broker, by, pack, { dryRun: body.dry_run })
    return { id, version: pack.version, dry_run: body.dry_run, ...diff }
  },
})
