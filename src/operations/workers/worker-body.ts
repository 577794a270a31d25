import { z } from '@hono/zod-openapi'
import { PINNINGS } from '../../domain/pinned-tool.ts'
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

export const PINNING_MEANS =
  '`hold`: a tool whose definition has changed does not run, and keeps its accepted text, until an administrator accepts the new one; new tools wait. `record`: changes apply, on record. `off`: they apply'

const pinning = z
  .enum(PINNINGS)
  .optional()
  .meta({
    description: `${PINNING_MEANS}. Default: \`hold\` for MCP servers, OXP servers and OpenAPI documents at a URL, else \`record\`; \`off\` in development`,
  })

export const workerCreateSchema = z.object({
  id: newIdText,
  type: z.string().nullish(),
  enabled: z.boolean().default(true),
  pinning,
  ...WORKER_BLOCKS.create,
})

export const workerChangeSchema = z.object({
  enabled: z.boolean().optional(),
  pinning,
  ...WORKER_BLOCKS.change,
})
