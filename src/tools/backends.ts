import type { Worker, WorkerType } from '../domain/worker.ts'
import { arcadeBackend } from './arcade/backend.ts'
import type { Backend } from './backend.ts'
import { moduleBackend } from './module/backend.ts'
import { openapiBackend } from './openapi/backend.ts'
import { ownError } from './tool-answer.ts'
import type { ToolError } from './tool-error.ts'
import { WorkerFault } from './worker-fault.ts'

const loadMcp = async () => (await import('./mcp/backend.ts')).mcpBackend

/** The backends of the core. */
const CORE: Readonly<Partial<Record<WorkerType, Backend>>> = {
  http: arcadeBackend,
  // the MCP client is loaded with the first MCP server, because loading it takes a tenth of every start
  mcp: {
    catalogue: async (...of) => (await loadMcp()).catalogue(...of),
    health: async (...of) => (await loadMcp()).health(...of),
    call: async (...of) => (await loadMcp()).call(...of),
  },
  module: moduleBackend,
  openapi: openapiBackend,
}

export interface Backends {
  /** The backend that speaks the worker's protocol. */
  of(worker: Pick<Worker, 'type'>): Backend
}

declare module '../broker.ts' {
  // here, because broker.ts may not import the type: every backend is given a broker
  interface Broker {
    readonly backends: Backends
  }
}

/** The backends of the core and those of features. */
export function createBackends(ofFeatures: ReadonlyMap<WorkerType, Backend>): Backends {
  return { of: ({ type }) => CORE[type] ?? ofFeatures.get(type) ?? withoutBackend(type) }
}

/** For a worker whose type belongs to a feature that this Gatepass does not have. */
function withoutBackend(type: WorkerType): Backend {
  const message = `This Gatepass has no workers of the type "${type}": delete the worker, or run a Gatepass that has them.`
  const error: ToolError = { kind: 'TOOLKIT_LOAD_FAILED', message, canRetry: false }
  return {
    catalogue: async () => Promise.reject(new WorkerFault(error)),
    health: async () => ({ healthy: false, message }),
    call: async () => ownError(error),
  }
}
