import { WorkerFault } from '../worker-fault.ts'

/** The fault for a server whose authorization is missing. `developerMessage` tells the operator what to do. */
export function authorizationFault(developerMessage: string, canRetry = false): WorkerFault {
  return new WorkerFault({
    kind: 'UPSTREAM_RUNTIME_AUTH_ERROR',
    message: 'The server of the tool requires an authorization that is not available now.',
    canRetry,
    developerMessage,
  })
}
