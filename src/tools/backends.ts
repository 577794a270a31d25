import type { Worker, WorkerType } from '../domain/worker.ts'
import { arcadeBackend } from './arcade/backend.ts'
import type { Backend } from './backend.ts'
import { moduleBackend } from './module/backend.ts'
import { openapiBackend } from './openapi/backend.ts'
import { oxpBackend } from './oxp/backend.ts'

const loadMcp = async () => (await import('./mcp/backend.ts')).mcpBackend

/** The backend of each worker type. */
const BACKENDS: Readonly<Record<WorkerType, Backend>> = {
  http: arcadeBackend,
  // the MCP client is loaded with the first MCP server, because loading it takes a tenth of every start
  mcp: {
    catalogue: async (...of) => (await loadMcp()).catalogue(...of),
    health: async (...of) => (await loadMcp()).health(...of),
    call: async (...of) => (await loadMcp()).call(...of),
  },
  module: moduleBackend,
  openapi: openapiBackend,
  oxp: oxpBackend,
}

/** The backend that speaks the worker's protocol. */
export function backendOf({ type }: Pick<Worker, 'type'>): Backend {
  return BACKENDS[type]
}
