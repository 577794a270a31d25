import type { Broker } from '../../broker.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import type { Worker, WorkerType } from '../../domain/worker.ts'
import { loadFeatures } from '../../features/load-features.ts'
import type { TypeSettings, WorkerTypeWire } from './define.ts'
import { httpWorker } from './http.ts'
import { mcpWorker } from './mcp.ts'
import { openapiWorker } from './openapi.ts'

/** The types of workers that can be registered. Modules are not: only the settings of the server name them. */
export const WORKER_TYPE_WIRES: readonly WorkerTypeWire[] = [
  httpWorker,
  mcpWorker,
  openapiWorker,
  ...(await Promise.all((await loadFeatures('workers')).map(({ wire }) => wire()))),
]

export function findWorkerType(type: WorkerType): WorkerTypeWire | undefined {
  return WORKER_TYPE_WIRES.find((wire) => wire.type === type)
}

/** The type of the worker that the body registers, and the member of that type. Throws `invalid_request`. */
export function readWorkerType(body: {
  readonly type?: string | null | undefined
  readonly [block: string]: unknown
}): { readonly wire: WorkerTypeWire; readonly block: unknown } {
  const sent = WORKER_TYPE_WIRES.filter(({ type }) => body[type] !== undefined)
  const [wire] = sent
  const names = WORKER_TYPE_WIRES.map(({ type }) => `\`${type}\``).join(', ')
  if (wire === undefined || sent.length > 1 || (body.type != null && body.type !== wire.type))
    throw invalidMember(
      'type',
      'invalid',
      `A worker needs the settings of exactly one type, in ${names}. If \`type\` is given, it must have the same name.`,
    )
  return { wire, block: body[wire.type] }
}

/** The change of the worker's settings that the member of its type in the body describes. Throws `invalid_request`. */
export async function readWorkerChange(
  broker: Broker,
  body: Readonly<Record<string, unknown>>,
  worker: Worker,
): Promise<Partial<TypeSettings>> {
  const { id, type } = worker
  const { [type]: block, ...others } = body
  if (Object.values(others).some((other) => other !== undefined))
    throw new BrokerError(
      'invalid_request',
      `The worker "${id}" is of the type ${type}: put its changes into \`${type}\`.`,
    )
  if (block === undefined) return {}
  return (await findWorkerType(type)?.toChange(broker, block, worker)) ?? {}
}
