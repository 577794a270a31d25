import type { Broker } from '../../broker.ts'
import type { Worker } from '../../domain/worker.ts'
import { handOut } from '../../flows/hand-out.ts'
import type { Backend, BackendCall } from '../../tools/backend.ts'
import { callKey } from '../../tools/call-key.ts'
import type { CatalogueReading, ReceivedCatalogue } from '../../tools/catalogue/catalogue-reading.ts'
import { readCatalogue } from '../../tools/catalogue/read-catalogue.ts'
import { answerReader, readAnswer } from '../../tools/read-answer.ts'
import { threadTask } from '../../tools/thread-pool.ts'
import { ownError, type ToolAnswer } from '../../tools/tool-answer.ts'
import { WorkerFault } from '../../tools/worker-fault.ts'
import { bodyOf, MAX_HEALTH_SECONDS } from '../../tools/worker-request.ts'
import { oxpAnswers } from './backend-answer-task.ts'
import { type Credentials, readList } from './backend-catalogue-task.ts'
import { askOxpServer } from './backend-server.ts'
import { oxpSettings } from './backend-settings.ts'
import { requiresUser } from './backend-tool.ts'

const catalogueTask = threadTask<ReceivedCatalogue<Credentials>, CatalogueReading>(
  './backend-catalogue-task',
  import.meta.url,
)

const reader = answerReader(oxpAnswers, './backend-answer-task', import.meta.url)

/** Servers of the Open eXecution Protocol (OXP) 1.0. */
export const oxpBackend: Backend = {
  async catalogue(broker, worker, { maxBytes, maxSeconds, before }) {
    const { response, credentials } = await askOxpServer(broker, worker, {
      path: 'tools',
      timeoutSeconds: Math.min(worker.timeoutSeconds, maxSeconds),
      maxBytes,
    })
    const received = { pages: [bodyOf(response)], about: credentials, before }
    return readCatalogue(received, { task: catalogueTask, read: readList, owner: worker.projectId })
  },

  async health(broker, worker) {
    const timeoutSeconds = Math.min(worker.timeoutSeconds, MAX_HEALTH_SECONDS)
    try {
      const { status } = (await askOxpServer(broker, worker, { path: 'health', timeoutSeconds })).response
      if (status >= 200 && status <= 299) return { healthy: true }
      const why = status === 503 ? ': it is not ready' : ''
      return { healthy: false, message: `The server answered ${status}${why}.` }
    } catch (error) {
      if (!(error instanceof WorkerFault)) throw error
      return { healthy: false, message: error.message }
    }
  },

  async call(broker, worker, call) {
    try {
      return await callTool(broker, worker, call)
    } catch (error) {
      if (!(error instanceof WorkerFault)) throw error
      return ownError(error.error)
    }
  },
}

/** `call_id` is the server's idempotency key, so a call whose answer was lost may be retried. */
async function callTool(broker: Broker, worker: Worker, call: BackendCall): Promise<ToolAnswer> {
  const request = toRequest(call)
  const { response, credentials } = await askOxpServer(broker, worker, {
    path: 'tools/call',
    body: oxpSettings(worker).envelope === 'none' ? request : { request },
    timeoutSeconds: worker.timeoutSeconds,
    isRepeatable: true,
    signal: call.signal,
  })
  const given = request.context.authorization.map(({ id }) => id)
  const asked = { callId: request.call_id, given }
  return readAnswer(reader, { response, asked }, call.reading, credentials)
}

function toRequest(call: BackendCall) {
  const { tool, input, secrets, userId } = call
  const document = tool.source.document
  const needsUser = requiresUser(document)
  if (needsUser && userId === undefined)
    throw requirementsNotMet(`The tool "${tool.title}" acts for a user: say which in user_id.`)
  const key = callKey(call)
  return {
    tool_id: serverToolId(call),
    call_id: key === undefined ? call.executionId : `call_${key}`,
    input,
    context: {
      authorization: tokensOf(call),
      secrets: secrets.map(({ key, value }) => ({ id: key, value })),
      ...(needsUser && { user_id: userId }),
    },
  }
}

/** The server's tool id with its version: without a version the server runs the latest. */
function serverToolId({ tool: { source, namespace, name, version } }: BackendCall): string {
  const { id } = source.document
  const listed = typeof id === 'string' ? id : `${namespace}.${name}`
  return listed.includes('@') || version === undefined ? listed : `${listed}@${version}`
}

/** Each token with the id of the requirement it is for. */
function tokensOf({ tool, authorizations }: BackendCall): { id: string; token: string }[] {
  return tool.requirements.authorization.map(({ id = '' }) => {
    // a call through a metadata tool that is bound to this tool has the metadata tool's requirements, which name providers differently
    const foreign = authorizations.filter(({ requirements }) =>
      requirements.every((requirement) => requirement.id === undefined),
    )
    const given =
      authorizations.find(({ requirements }) => requirements.some((requirement) => requirement.id === id)) ??
      foreign.find(({ release: { entry } }) => [entry.id, entry.wellKnownId].includes(id)) ??
      (authorizations.length === 1 && tool.requirements.authorization.length === 1 ? foreign[0] : undefined)
    if (given === undefined)
      throw requirementsNotMet(
        `The tool "${tool.title}" needs an authorization "${id}", which the imported tool that is bound to it does not declare.`,
      )
    return { id, token: handOut(given.release).token }
  })
}

function requirementsNotMet(message: string): WorkerFault {
  return new WorkerFault({ kind: 'TOOL_REQUIREMENTS_NOT_MET', message, canRetry: false })
}
