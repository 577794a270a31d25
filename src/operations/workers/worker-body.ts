import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { Worker } from '../../domain/worker.ts'
import { getWorker, registerWorker, updateWorker } from '../../tools/worker.ts'
import { newIdText } from '../schemas/fields.ts'
import { findWorkerType, readWorkerType, WORKER_TYPE_WIRES } from '../worker-types/registry.ts'

const PARTS = { create: 'Registration', change: 'Change', answer: 'Settings' } as const

/** The members of a worker that have the names of the types. */
export const WORKER_BLOCKS = {
  create: workerBlocks('create'),
  change: workerBlocks('change'),
  answer: workerBlocks('answer'),
}

function workerBlocks(part: keyof typeof PARTS) {
  return Object.fromEntries(
    WORKER_TYPE_WIRES.map((wire) => {
      const name = `${wire.type.charAt(0).toUpperCase()}${wire.type.slice(1)}Worker${PARTS[part]}`
      return [wire.type, wire[part].openapi(name).optional()]
    }),
  )
}

export const workerCreateSchema = z.object({
  id: newIdText,
  type: z.string().nullish(),
  enabled: z.boolean().default(true),
  ...WORKER_BLOCKS.create,
})

export const workerChangeSchema = z.object({
  enabled: z.boolean().optional(),
  ...WORKER_BLOCKS.change,
})

/** Registers the worker of a body and reads its catalogue once. Throws `already_exists`, `invalid_request`. */
export async function createWorker(
  broker: Broker,
  projectId: string,
  body: z.output<typeof workerCreateSchema>,
): Promise<Worker> {
  const { id, enabled } = body
  const { wire, block } = readWorkerType(body)
  const settings = await wire.toSettings(broker, block, projectId)
  return registerWorker(broker, projectId, { id, enabled, type: wire.type, ...settings })
}

/** Changes the members that are given, and reads the catalogue again. Throws `not_found`, `invalid_request`. */
export async function changeWorker(
  broker: Broker,
  projectId: string,
  id: string,
  { enabled, ...sent }: z.output<typeof workerChangeSchema>,
): Promise<Worker> {
  const worker = await getWorker(broker, projectId, id)
  const wire = findWorkerType(worker.type)
  const others = Object.entries(sent).filter(([type, block]) => block !== undefined && type !== wire?.type)
  if (wire === undefined || others.length > 0)
    throw new BrokerError(
      'invalid_request',
      wire === undefined
        ? `The worker "${worker.id}" comes from GATEPASS_TOOLS; change it there.`
        : `The worker "${worker.id}" is of the type ${wire.type}: put its changes into \`${wire.type}\`.`,
    )
  const block = (sent as Record<string, unknown>)[wire.type] // parsed by the schema of the type
  return updateWorker(broker, worker, async (current) => ({
    ...(enabled !== undefined && { enabled }),
    ...(block !== undefined && (await wire.toChange(broker, block, current))),
  }))
}
