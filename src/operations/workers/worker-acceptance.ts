import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { Worker } from '../../domain/worker.ts'
import type { WorkerNeeds } from '../../domain/worker-needs.ts'
import { acceptanceOf, needsNoAcceptance, waitingTools } from '../../tools/catalogue/acceptance.ts'
import { ownerNameOf } from '../../tools/catalogue/name-claims.ts'

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
    automatic: z.literal(true).optional().meta({
      description:
        'In development, and for modules that the settings name, everything is accepted automatically',
    }),
  })
  .openapi('WorkerAcceptance')

export async function acceptanceToWire(
  broker: Broker,
  worker: Worker,
): Promise<z.infer<typeof acceptanceSchema>> {
  const acceptance = await acceptanceOf(broker, worker)
  const { accepted, waiting, names, digest } = acceptance
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
    ...(needsNoAcceptance(broker, worker) && { automatic: true as const }),
  }
}

function toWire({ providers, secrets }: WorkerNeeds): z.infer<typeof needsSchema> {
  return {
    providers: Object.entries(providers).map(([id, scopes]) => ({ id, scopes: [...scopes] })),
    secrets: [...secrets],
  }
}
