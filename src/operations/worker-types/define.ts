import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { Worker, WorkerType } from '../../domain/worker.ts'
import type { WorkerSettings } from '../../tools/worker-settings.ts'

/** The settings of a worker that depend on its type. */
export type TypeSettings = Pick<WorkerSettings, 'uri' | 'secret' | 'settings' | 'timeoutSeconds' | 'retry'>

/** The wire of one type of worker: the member of a worker that has the name of the type. */
export interface WorkerTypeWire {
  readonly type: WorkerType
  /** The schema that registers a worker. */
  readonly create: z.ZodType
  /** The schema that changes a worker. Members may be left out. */
  readonly change: z.ZodType
  /** The schema of an answer, which says of a secret only that it exists. */
  readonly answer: z.ZodType
  toSettings(broker: Broker, body: unknown, projectId: string): TypeSettings | Promise<TypeSettings>
  /** Returns only what changes. A secret that the body leaves out does not change. */
  toChange(
    broker: Broker,
    body: unknown,
    worker: Worker,
  ): Partial<TypeSettings> | Promise<Partial<TypeSettings>>
  toWire(broker: Broker, worker: Worker): Record<string, unknown>
  /** For a worker that needs OAuth: whether a user has authorized it, so that its tools can be listed. `undefined` for others. */
  isAuthorized?(worker: Worker): boolean | undefined
}

/** Defines a type of worker. Its parameter's type checks that the functions take what the schemas parse. */
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
    toChange: (broker, body, worker) => wire.toChange(broker, body as z.output<Change>, worker), // parsed by `change`
  }
}

export const workerUri = z.string().min(1).max(2048)
const timeout = z.number().int().min(1).max(600).meta({ description: 'Seconds' })
const retry = z.number().int().min(0).max(10)

/** The timeout of a call and the number of its retries, which are members of every type. */
export const limits = {
  create: { timeout: timeout.default(30), retry: retry.default(3) },
  change: { timeout: timeout.optional(), retry: retry.optional() },
  answer: { timeout: z.number(), retry: z.number() },
}

export function changedLimits({ timeout, retry }: Sent<typeof limits.change>): Partial<TypeSettings> {
  return { ...(timeout !== undefined && { timeoutSeconds: timeout }), ...(retry !== undefined && { retry }) }
}

type Sent<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>

/** The existence of a secret, in the form of Arcade's API. */
export const keptSecret = z
  .object({
    binding: z.literal('project'),
    editable: z.literal(true),
    exists: z.boolean(),
  })
  .openapi('KeptSecret')

export function toKeptSecret(exists: boolean): z.infer<typeof keptSecret> {
  return { binding: 'project', editable: true, exists }
}
