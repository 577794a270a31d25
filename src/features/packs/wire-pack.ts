import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { didYouMean } from '../../domain/nearest.ts'
import { jsonObject } from '../../operations/schemas/json-schemas.ts'
import { APPROVALS, type Pack, type PackTool } from './wire-format.ts'
import { findPack, type KnownPack, knownPackIds, ownPacks, PACK_SOURCES } from './wire-packs.ts'
import { approvalsOfPack, chosenTools, type PackChoice, workerOfPack } from './wire-worker.ts'

// Packs as the API answers them.

export const packSummarySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    summary: z.string(),
    provider_id: z.string().meta({ description: 'The provider of the catalogue whose tokens the tools use' }),
    version: z.string(),
    tool_count: z.number().int(),
    checked_count: z.number().int().meta({
      description:
        'The tools that were compared with the description of the vendor’s API or with a client of it',
    }),
    compared: z
      .object({ description: z.number().int(), client: z.number().int(), nothing: z.number().int() })
      .meta({
        description:
          'How many tools were compared with the description of the vendor’s API, with a client of it, and with neither. A tool may be compared with both',
      }),
    checked_at: z.string().meta({ description: 'The day of the last comparison' }),
    source: z.enum(PACK_SOURCES).meta({
      description: '`gatepass`: Gatepass ships it. `own`: it is in the folder `GATEPASS_PACKS` of the server',
    }),
  })
  .openapi('Pack')

export const packToolSchema = z
  .object({
    name: z.string(),
    description: z.string(),
    provider_id: z.string().meta({ description: 'The provider of the catalogue whose connections it uses' }),
    scopes: z.array(z.string()).meta({ description: 'The least that it needs' }),
    approval: z.enum(APPROVALS).meta({ description: '`ask`: a person should approve each call' }),
    read_only: z.boolean(),
    destructive: z.boolean(),
    checks: z.array(z.enum(['description', 'client'])),
  })
  .openapi('PackTool')

export const packDetailSchema = packSummarySchema
  .extend({
    sources: z.array(z.string()).meta({ description: 'What the tools were written after' }),
    tools: z.array(packToolSchema),
    scopes: z.array(z.string()).meta({ description: 'Of all these tools together' }),
    worker: jsonObject.meta({ description: 'The body of `POST /v1/workers` that adds these tools' }),
    toolset: jsonObject.meta({ description: 'The body of `POST /v1/toolsets` that selects them' }),
    policy: jsonObject.optional().meta({
      description:
        'The body of `POST /v1/admin/policies` that has a person approve the calls of tools with `ask`; absent: there are none',
    }),
  })
  .openapi('PackDetail')

/** Throws `not_found`, whose message has the nearest id, or the faults of the pack. */
export async function getPackOf(broker: Broker, id: string): Promise<KnownPack> {
  const known = await findPack(broker, id)
  if (known !== undefined) return known
  const faults = (await ownPacks(broker)).faults.get(id)
  throw new BrokerError(
    'not_found',
    faults === undefined
      ? `There is no tool pack "${id}".${didYouMean(id, await knownPackIds(broker))}`
      : `The tool pack "${id}" cannot be used. ${faults.join(' ')}`,
  )
}

/** Throws `invalid_request` for a tool that the pack does not have. */
export function checkNames({ pack }: KnownPack, chosen: readonly string[] | undefined): void {
  const names = pack.tools.map(({ name }) => name)
  const unknown = chosen?.find((name) => !names.includes(name))
  if (unknown === undefined) return
  throw new BrokerError(
    'invalid_request',
    `The pack "${pack.id}" has no tool "${unknown}".${didYouMean(unknown, names)}`,
  )
}

export function toSummary({ pack, source }: KnownPack): z.infer<typeof packSummarySchema> {
  const { id, name, summary, provider, version, tools, checked } = pack
  const compared = (what: PackTool['checks'][number]) =>
    tools.filter(({ checks }) => checks.includes(what)).length
  const checkedCount = tools.filter(({ checks }) => checks.length > 0).length
  return {
    ...{ id, name, summary, version, source },
    provider_id: provider,
    tool_count: tools.length,
    checked_count: checkedCount,
    compared: {
      description: compared('description'),
      client: compared('client'),
      nothing: tools.length - checkedCount,
    },
    checked_at: checked,
  }
}

export function toDetail(known: KnownPack, choice: PackChoice): z.infer<typeof packDetailSchema> {
  const { pack } = known
  const tools = chosenTools(pack, choice)
  const policy = approvalsOfPack(pack, choice)
  return {
    ...toSummary(known),
    sources: pack.sources,
    tools: tools.map((tool) => toTool(pack, tool)),
    scopes: [...new Set(tools.flatMap(({ scopes }) => scopes))],
    worker: workerOfPack(pack, choice),
    toolset: { id: pack.id, namespaces: [pack.namespace] },
    ...(policy && { policy }),
  }
}

export function toTool(pack: Pack, tool: PackTool) {
  const { name, description, scopes, approval, annotations = {}, checks } = tool
  return {
    ...{ name, description, scopes, approval, checks },
    provider_id: tool.provider ?? pack.provider,
    read_only: annotations.readOnlyHint === true,
    destructive: annotations.destructiveHint === true,
  }
}
