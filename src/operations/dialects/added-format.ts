import type { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { Tool } from '../../domain/tool.ts'
import type { Catalogue } from '../../tools/catalogue/catalogue.ts'

/** A format of tools that a feature adds. */
export interface AddedFormat {
  readonly name: string
  readonly schema: z.ZodType
  write(broker: Broker, tool: Tool, catalogue: Catalogue): Promise<unknown>
}
