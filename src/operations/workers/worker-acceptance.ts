import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import type { WaitingDefinition } from '../../domain/pinned-tool.ts'
import type { Worker } from '../../domain/worker.ts'
import type { WorkerNeeds } from '../../domain/worker-needs.ts'
import { acceptanceOf, needsNoAcceptance } from '../../tools/catalogue/acceptance.ts'
import {
  type ChangedDefinition,
  changedDefinitionsOf,
  lookAlikesOf,
} from '../../tools/catalogue/changed-definitions.ts'
import { waitingTools } from '../../tools/catalogue/held-tools.ts'
import { ownerNameOf } from '../../tools/catalogue/name-claims.ts'
import { jsonValue } from '../schemas/json-schemas.ts'

// The providers, scopes and secrets that a worker's tools may use, and their names: those that an administrator has accepted, and those
// that wait for acceptance.

const needsSchema = z.object({
  providers: z.array(z.object({ id: z.string(), scopes: z.array(z.string()) })),
  secrets: z.array(z.string()),
})

export const acceptanceSchema = z
  .object({
    accepted: needsSchema,
    waiting: needsSchema
      .extend({
        tools: z.array(z.string()).meta({
          description:
            'The ids of the tools with these requirements. They run again once the requirements are accepted',
        }),
        names: z
          .array(
            z.object({
              name: z.string(),
              owner: z.string().optional().meta({
                description:
                  'The id of the worker that has the name, or `import`; absent: no source has it, but the toolkit is new or belongs to another worker',
              }),
            }),
          )
          .meta({
            description:
              'Names of its tools that do not belong to it. Until they are accepted, these tools are in no list and are found by their full ids alone',
          }),
        digest: z.string().meta({
          description: 'A digest of these requirements and names, for POST /v1/workers/{id}/accept',
        }),
      })
      .optional()
      .meta({
        description:
          'Requirements and names that the catalogue of the worker has named since, and names that another source had at its registration. Until requirements are accepted, users are not asked for them and tools do not get them',
      }),
    changed: z
      .array(
        z.object({
          tool: z.string().meta({ description: 'The id of the tool' }),
          from: z.string().optional().meta({
            description: 'The digest of the accepted definition; absent for a new tool',
          }),
          to: z.string().meta({ description: 'The digest of the definition that waits' }),
          since: z.string(),
          unstable: z.literal(true).optional().meta({
            description: 'It has changed and returned to what was accepted',
          }),
          looks_like: z.object({ tool: z.string(), worker: z.string() }).optional().meta({
            description: 'A tool of another source whose name looks like this one',
          }),
          addresses_model: z.array(z.string()).optional().meta({
            description: 'JSON Pointers of texts that seem to be for the model; nothing is decided by it',
          }),
          diff: z
            .array(
              z.object({
                at: z.string().meta({ description: 'A JSON Pointer into the definition' }),
                before: jsonValue.optional(),
                after: jsonValue.optional(),
              }),
            )
            .optional()
            .meta({ description: 'What differs; not in lists of workers' }),
        }),
      )
      .optional()
      .meta({
        description:
          'Tools whose definition has changed since it was accepted, and new ones. The former are listed as they were accepted and do not run, the latter are not listed',
      }),
    look_alikes: z
      .array(z.object({ tool: z.string(), like: z.string(), worker: z.string() }))
      .optional()
      .meta({
        description:
          'Tools of the worker whose names look like those of another source (`worker`), 50 at most; not in lists of workers',
      }),
    automatic: z.literal(true).optional().meta({
      description:
        'In development, and for modules that the settings name, everything is accepted automatically',
    }),
  })
  .openapi('WorkerAcceptance')

export async function acceptanceToWire(
  broker: Broker,
  worker: Worker,
  { withDiff }: { readonly withDiff: boolean },
): Promise<z.infer<typeof acceptanceSchema>> {
  const acceptance = await acceptanceOf(broker, worker)
  const { accepted, waiting, names, definitions, digest } = acceptance
  return {
    accepted: toWire(accepted),
    ...(digest !== undefined && {
      waiting: {
        ...toWire(waiting),
        tools: await waitingTools(broker, worker, acceptance),
        names: await Promise.all(
          names.map(async ({ name, owner }) => ({
            name,
            ...(owner !== undefined && { owner: await ownerNameOf(broker, owner) }),
          })),
        ),
        digest,
      },
    }),
    ...(definitions.length > 0 && { changed: await changedToWire(broker, worker, definitions, withDiff) }),
    ...(withDiff && (await lookAlikesToWire(broker, worker))),
    ...(needsNoAcceptance(broker, worker) && { automatic: true as const }),
  }
}

type WireChange = NonNullable<z.infer<typeof acceptanceSchema>['changed']>[number]

async function changedToWire(
  broker: Broker,
  worker: Worker,
  definitions: readonly WaitingDefinition[],
  withDiff: boolean,
): Promise<WireChange[]> {
  if (!withDiff) return definitions.map(changeToWire)
  return (await changedDefinitionsOf(broker, worker)).map((changed) => ({
    ...changeToWire(changed),
    ...(changed.looksLike && { looks_like: changed.looksLike }),
    ...(changed.addressesModel.length > 0 && { addresses_model: [...changed.addressesModel] }),
    diff: [...changed.diff],
  }))
}

async function lookAlikesToWire(broker: Broker, worker: Worker) {
  const look_alikes = await lookAlikesOf(broker, worker)
  return look_alikes.length === 0 ? {} : { look_alikes }
}

function changeToWire({
  tool,
  accepted,
  waiting,
  isUnstable,
  since,
}: Pick<ChangedDefinition, 'tool' | 'accepted' | 'waiting' | 'isUnstable' | 'since'>): WireChange {
  return {
    tool,
    ...(accepted !== undefined && { from: accepted }),
    to: waiting,
    since: toTimestamp(since),
    ...(isUnstable && { unstable: true as const }),
  }
}

function toWire({ providers, secrets }: WorkerNeeds): z.infer<typeof needsSchema> {
  return {
    providers: Object.entries(providers).map(([id, scopes]) => ({ id, scopes: [...scopes] })),
    secrets: [...secrets],
  }
}
