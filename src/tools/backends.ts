import type { Worker, WorkerType } from '../domain/worker.ts'
import { arcadeBackend } from './arcade/backend.ts'
import type { Backend } from './backend.ts'
import { mcpBackend } from './mcp/backend.ts'
import { moduleBackend } from './module/backend.ts'
import { openapiBackend } from './openapi/backend.ts'
import { oxpBackend } from './oxp/backend.ts'

/** One for each type of worker. */
const BACKENDS: Readonly<Partial<Record<WorkerType, Backend>>> = {
  http: arcadeBackend,
  mcp: mcpBackend,
  module: moduleBackend,
  openapi: openapiBackend,
  oxp: oxpBackend,
}

/** What speaks to the worker. */
export function backendOf({ type, id }: Pick<Worker, 'type' | 'id'>): Backend {
  const backend = BACKENDS[type]
  if (backend === undefined) throw new Error(`the worker ${id} is of the unknown type ${type}`)
  return backend
}
