import type { Worker } from '../domain/worker.ts'

/** The settings of a worker that an operator gives. */
export interface WorkerSettings
  extends Pick<
    Worker,
    'id' | 'type' | 'enabled' | 'uri' | 'settings' | 'timeoutSeconds' | 'retry' | 'pinning'
  > {
  /** Empty where the worker needs no credentials. */
  readonly secret: string
}
