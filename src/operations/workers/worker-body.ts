import { z } from '@hono/zod-openapi'
import { newIdText } from '../schemas/fields.ts'
import { WORKER_TYPE_WIRES } from '../worker-types/registry.ts'

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
