import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { Worker } from '../../domain/worker.ts'
import type { WorkerNeeds } from '../../domain/worker-needs.ts'
import { idText } from '../../operations/schemas/fields.ts'
import {
  acceptanceOf,
  acceptWaiting,
  needsNoAcceptance,
  waitingTools,
} from '../../tools/catalogue/acceptance.ts'
import { ownerNameOf } from '../../tools/catalogue/name-claims.ts'
import { getWorker } from '../../tools/worker.ts'
import type { AddEndpoint } from '../endpoint/endpoint.ts'

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
        tools: z.array(z.string()).openapi({
          description:
            'The ids of the tools with these requirements. They run again once the requirements are accepted',
        }),
        names: z
          .array(
            z.object({
              name: z.string(),
              owner: z.string().optional().openapi({
                description:
                  'The id of the worker that has the name, or `import`; absent: no source has it, but the toolkit is new or belongs to another worker',
              }),
            }),
          )
          .openapi({
            description:
              'Names of its tools that do not belong to it. Until they are accepted, these tools are in no list and are found by their full ids alone',
          }),
        digest: z.string().openapi({
          description: 'A digest of these requirements and names, for POST /v1/workers/{id}/accept',
        }),
      })
      .optional()
      .openapi({
        description:
          'Requirements and names that the catalogue of the worker has named since, and names that another source had at its registration. Until requirements are accepted, users are not asked for them and tools do not get them',
      }),
    automatic: z.literal(true).optional().openapi({
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

/** @param answer the schema and the wire of a whole worker. */
export function addWorkerAcceptance(
  add: AddEndpoint,
  broker: Broker,
  answer: { readonly schema: z.ZodType; toWire(worker: Worker): Promise<object> },
): void {
  add(
    {
      operationId: 'acceptWorkerRequirements',
      method: 'post',
      path: '/v1/workers/{id}/accept',
      role: 'admin',
      tag: 'Workers',
      summary: 'Accept the new requirements and names of the tools of a worker',
      description:
        'Providers, scopes and secrets that the catalogue of a known worker names only after its registration wait until they are accepted here, and so do names that it claims for its tools: the worker has them from then on, also those that another source had. `acceptance` of GET /v1/workers/{id} shows them. With `digest`, they are accepted only if they have not changed since it was read.',
      params: z.object({ id: idText }),
      body: z.strictObject({ digest: z.string().max(100).optional() }),
      bodyIsOptional: true,
      responses: { 200: { description: 'The worker', schema: answer.schema } },
    },
    async ({ c, params, body, caller }) => {
      const worker = await getWorker(broker, caller.projectId, params.id)
      const { digest } = body
      await acceptWaiting(broker, worker, digest === undefined ? {} : { digest })
      return c.json(await answer.toWire(await getWorker(broker, caller.projectId, params.id)))
    },
  )
}
