import { toolId } from '../../domain/tool.ts'
import type { ToolId } from '../../domain/tool-id.ts'
import type { Worker } from '../../domain/worker.ts'
import type { Backend } from '../backend.ts'
import { ownError } from '../tool-answer.ts'
import type { ToolError } from '../tool-error.ts'
import { WorkerFault } from '../worker-fault.ts'
import { loadedModule, ModuleFault, type ToolModule } from './load-module.ts'
import { runHandler } from './run-handler.ts'

/** Tools that run in this process, from the modules that `GATEPASS_TOOLS` names. */
export const moduleBackend: Backend = {
  isInProcess: true,
  async catalogue(_, worker) {
    const tools = read(worker, (module) => module.tools())
    return { items: tools.map(({ listed }) => ({ outcome: 'read', tool: listed })) }
  },
  async health(_, worker) {
    if (loadedModule(worker.uri) !== undefined) return { healthy: true }
    return { healthy: false, message: notLoaded(worker).message }
  },
  async call(_, worker, call) {
    try {
      const tool = read(worker, (module) => module.find(call.tool))
      if (tool === undefined) return ownError(notInModule(worker, call.tool))
      const timeoutSeconds = tool.options.timeoutSeconds ?? worker.timeoutSeconds
      return await runHandler({ timeoutSeconds, ...tool }, call)
    } catch (error) {
      if (!(error instanceof WorkerFault)) throw error
      return ownError(error.error)
    }
  },
}

/** Reads the worker's module. Throws `WorkerFault` when it is not loaded, or has a tool that cannot be used. */
function read<Read>(worker: Worker, of: (module: ToolModule) => Read): Read {
  const module = loadedModule(worker.uri)
  if (module === undefined) throw new WorkerFault(notLoaded(worker))
  try {
    return of(module)
  } catch (error) {
    throw error instanceof ModuleFault ? new WorkerFault(unusable(worker, error)) : error
  }
}

/** Happens when nodes of one installation have different settings. */
function notLoaded({ id }: Worker): ToolError {
  return {
    kind: 'TOOLKIT_LOAD_FAILED',
    message: `The module "${id}" is not loaded on this node: GATEPASS_TOOLS must be the same on every node.`,
    canRetry: false,
  }
}

/** Happens when the module added the tool at run time: Gatepass does not start with an unusable tool. */
function unusable({ id }: Worker, { message: developerMessage }: ModuleFault): ToolError {
  return {
    kind: 'TOOLKIT_LOAD_FAILED',
    message: `The module "${id}" has a tool that cannot be used.`,
    canRetry: false,
    developerMessage,
  }
}

/** Happens when the module removed the tool at run time, or when nodes have different versions of the module. */
function notInModule({ id }: Worker, tool: ToolId): ToolError {
  return {
    kind: 'TOOLKIT_LOAD_FAILED',
    message: `The module "${id}" has no tool ${toolId(tool)} on this node: it was removed, or nodes have different versions of the module.`,
    canRetry: false,
  }
}
