import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { Worker, WorkerType } from '../../domain/worker.ts'
import type { WorkerSettings } from '../../tools/worker.ts'

/** What of a worker its type has a say in. */
export type TypeSettings = Pick<WorkerSettings, 'uri' | 'secret' | 'settings' | 'timeoutSeconds' | 'retry'>

/** How workers of one type are written on the wire, under the member that is named like the type. */
export interface WorkerTypeWire {
  readonly type: WorkerType
  /** What registers one. */
  readonly create: z.ZodType
  /** What changes one: any of its members. */
  readonly change: z.ZodType
  /** What is answered; never a secret, only that there is one. */
  readonly answer: z.ZodType
  toSettings(broker: Broker, body: unknown, projectId: string): TypeSettings | Promise<TypeSettings>
  /** Only what changes. A secret that is not said stays. */
  toChange(
    broker: Broker,
    body: unknown,
    worker: Worker,
  ): Partial<TypeSettings> | Promise<Partial<TypeSettings>>
  toWire(broker: Broker, worker: Worker): Record<string, unknown>
  /** Of a worker that users must open: whether somebody has, so that its tools can be listed. `undefined`: it is open. */
  isAuthorized?(worker: Worker): boolean | undefined
}

/** Keeps the types of the schemas together; bodies reach the functions as the schemas have parsed them. */
export function defineWorkerType<Create extends z.ZodType, Change extends z.ZodType>(
  wire: Omit<WorkerTypeWire, 'create' | 'change' | 'toSettings' | 'toChange'> & {
    readonly create: Create
    readonly change: Change
    toSettings(
      broker: Broker,
      body: z.output<Create>,
      projectId: string,
    ): TypeSettings | Promise<TypeSettings>
    toChange(
      broker: Broker,
      body: z.output<Change>,
      worker: Worker,
    ): Partial<TypeSettings> | Promise<Partial<TypeSettings>>
  },
): WorkerTypeWire {
  return {
    ...wire,
    toSettings: (broker, body, projectId) => wire.toSettings(broker, body as z.output<Create>, projectId), // parsed by `create`
    toChange: (broker, body, worker) => wire.toChange(broker, body as z.output<Change>, worker), // by `change`
  }
}

export const workerUri = z.string().min(1).max(2048)
const timeout = z.number().int().min(1).max(600).openapi({ description: 'Seconds' })
const retry = z.number().int().min(0).max(10)

/** How long a call may take, and how often it is tried again: members of every type's schemas. */
export const limits = {
  create: { timeout: timeout.default(30), retry: retry.default(3) },
  change: { timeout: timeout.optional(), retry: retry.optional() },
  answer: { timeout: z.number(), retry: z.number() },
}

export function changedLimits({ timeout, retry }: Said<typeof limits.change>): Partial<TypeSettings> {
  return { ...(timeout !== undefined && { timeoutSeconds: timeout }), ...(retry !== undefined && { retry }) }
}

type Said<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>

/** That there is a secret, as Arcade's wire says it. */
export const keptSecret = z.object({
  binding: z.literal('project'),
  editable: z.literal(true),
  exists: z.boolean(),
})

export function toKeptSecret(exists: boolean): z.infer<typeof keptSecret> {
  return { binding: 'project', editable: true, exists }
}
