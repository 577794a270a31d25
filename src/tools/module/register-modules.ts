import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { DEFAULT_PROJECT } from '../../domain/project.ts'
import type { Worker } from '../../domain/worker.ts'
import { changeWorker, registerWorker, syncWorker } from '../worker.ts'
import type { WorkerSettings } from '../worker-settings.ts'
import { loadModule, ModuleFault, type ToolModule } from './load-module.ts'

const TIMEOUT_SECONDS = 30

/** Loads these files, each a module with a name that no worker of another type has. Throws `ModuleFault`. */
export async function loadModules(
  files: readonly string[],
  workers: readonly Worker[],
): Promise<readonly ToolModule[]> {
  const modules: ToolModule[] = []
  for (const file of files) {
    const module = await loadModule(file)
    if (modules.some(({ id }) => id === module.id))
      throw new ModuleFault(
        file,
        `whose name is taken: another file is already the module "${module.id}". Rename one of them.`,
      )
    const known = workers.find(({ id }) => id === module.id)
    if (known !== undefined && known.type !== 'module')
      throw new ModuleFault(
        file,
        `whose name is taken: there is already a worker "${module.id}" of another type. Rename the file.`,
      )
    modules.push(module)
  }
  return modules
}

/**
 * Loads these files and makes them the modules of the project `default`, each a worker named after its file; workers
 * of other modules are deleted. Throws `ModuleFault`; nothing is changed if a file cannot be loaded.
 */
export async function registerModules(broker: Broker, files: readonly string[]): Promise<void> {
  const { store, now, audit } = broker
  const { id: projectId } = await store.projects.ensure(DEFAULT_PROJECT, now())
  const before = await store.workers.list(projectId)
  const modules = await loadModules(files, before)
  for (const { id } of before.filter(
    (worker) => isModule(worker) && !modules.some((module) => module.id === worker.id),
  ))
    await store.workers.delete(projectId, id, audit.of(projectId, { action: 'worker.deleted', subject: id }))
  for (const { id, url } of modules) {
    const known = await store.workers.find(projectId, id)
    if (known === undefined)
      await registerOnce(broker, projectId, {
        id,
        type: 'module',
        enabled: true,
        uri: url,
        secret: '',
        settings: {},
        timeoutSeconds: TIMEOUT_SECONDS,
        retry: 0,
      })
    else if (known.uri !== url) await changeWorker(broker, known, () => ({ uri: url }))
    else await syncWorker(broker, known)
  }
}

/** Registers a worker unless another node that starts at the same time has done so. */
async function registerOnce(broker: Broker, projectId: string, settings: WorkerSettings): Promise<void> {
  try {
    await registerWorker(broker, projectId, settings)
  } catch (error) {
    if (!(error instanceof BrokerError && error.code === 'already_exists')) throw error
  }
}

function isModule({ type }: Worker): boolean {
  return type === 'module'
}
