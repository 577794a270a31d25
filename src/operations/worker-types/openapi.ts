import { z } from '@hono/zod-openapi'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { baseUri, checkOpenapiSettings } from '../../tools/openapi/check-openapi-settings.ts'
import { type OpenapiSettings, openapiSettings } from '../../tools/openapi/openapi-settings.ts'
import { parseInThread } from '../../tools/openapi/read-in-thread.ts'
import { Refusal } from '../../tools/read-json.ts'
import { WorkerFault } from '../../tools/worker-fault.ts'
import { jsonObject } from '../schemas/json-schemas.ts'
import { changedLimits, defineWorkerType, limits } from './define.ts'
import {
  fromSchemeWire,
  requestDescription,
  schemeMapping,
  toRequestSettings,
  toRequestWire,
  toSchemeWire,
} from './openapi-request.ts'

const httpUrl = z.url({ protocol: /^https?$/ }).max(2048)

const members = {
  document: z
    .union([z.string().min(1), jsonObject])
    .optional()
    .meta({
      description: 'An OpenAPI 3.1 or 3.0 or Swagger 2.0 document: an object, or JSON or YAML as text',
    }),
  url: httpUrl.optional().meta({ description: 'Where the document is; every sync reads it again' }),
  request: requestDescription.optional(),
  requests: z
    .array(requestDescription)
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'A tool for each, of one API' }),
  server_url: httpUrl.optional().meta({ description: 'In place of the servers that the document names' }),
  namespace: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,128}$/, 'letters, digits, _ . - only')
    .optional()
    .meta({ description: 'The namespace of its tools; the id of the worker by default' }),
  authorization: z
    .record(z.string(), schemeMapping)
    .optional()
    .meta({ description: 'By the names of the document’s security schemes: the provider or the secret' }),
  operations: z
    .object({ include: z.array(z.string()).optional(), exclude: z.array(z.string()).optional() })
    .optional()
    .meta({ description: 'By operationId, tag or the name of the tool' }),
  headers: z
    .record(z.string(), z.string().max(1000))
    .optional()
    .meta({ description: 'Sent with every request; they must hold no secret' }),
  check_output: z.boolean().optional().meta({
    description:
      'Whether an answer that does not match the schema of the document is an error; true by default',
  }),
}

type Members = { readonly [Name in keyof typeof members]?: z.output<(typeof members)[Name]> | undefined }

/** HTTP APIs that an OpenAPI document or the description of one request defines. */
export const openapiWorker = defineWorkerType({
  type: 'openapi',
  create: z.object({ ...members, ...limits.create }),
  change: z.object({ ...members, ...limits.change }),
  answer: z.object({
    ...members,
    document: z
      .object({ openapi: z.string(), title: z.string().optional(), version: z.string().optional() })
      .optional(),
    ...limits.answer,
  }),
  async toSettings(_, { timeout, retry, ...sent }, projectId) {
    const settings = await toOpenapiSettings(sent, projectId)
    return { uri: uriOf(settings), secret: '', settings: { ...settings }, timeoutSeconds: timeout, retry }
  },
  async toChange(_, { timeout, retry, ...sent }, worker) {
    const { document, url, request, requests, ...rest } = openapiSettings(worker)
    const source = {
      ...(document && { document }),
      ...(url && { url }),
      ...(request && { request }),
      ...(requests && { requests }),
    }
    const sources = sourcesOf(sent)
    if (sources.length > 1) throw notOneSource()
    const kept = sources.length === 0 ? source : {}
    const settings = { ...rest, ...kept, ...(await toMembers(sent, worker.projectId)) }
    return {
      uri: uriOf(settings),
      settings: { ...settings },
      ...changedLimits({ timeout, retry }),
    }
  },
  toWire(_, worker) {
    const settings = openapiSettings(worker)
    const { document, url, request, requests, serverUrl, namespace, checkOutput } = settings
    const { authorization, operations, headers } = settings
    const { openapi, info } = document ?? {}
    const { title, version } = isRecord(info) ? info : {}
    return {
      ...(document && {
        document: {
          openapi: String(openapi),
          ...(typeof title === 'string' && { title }),
          ...(typeof version === 'string' && { version }),
        },
      }),
      url,
      ...(request && { request: toRequestWire(request) }),
      ...(requests && { requests: requests.map(toRequestWire) }),
      server_url: serverUrl,
      namespace,
      ...(authorization && {
        authorization: Object.fromEntries(
          Object.entries(authorization).map(([name, mapping]) => [name, toSchemeWire(mapping)]),
        ),
      }),
      ...(operations && { operations }),
      ...(headers && { headers }),
      check_output: checkOutput !== false,
      timeout: worker.timeoutSeconds,
      retry: worker.retry,
    }
  },
})

async function toOpenapiSettings(sent: Members, projectId: string): Promise<OpenapiSettings> {
  if (sourcesOf(sent).length !== 1) throw notOneSource()
  return toMembers(sent, projectId)
}

/** The members from which tools are read. A worker has exactly one of them. */
const SOURCES = ['document', 'url', 'request', 'requests'] as const

function sourcesOf(sent: Members): readonly string[] {
  return SOURCES.filter((name) => sent[name] !== undefined)
}

function notOneSource(): BrokerError {
  return invalidMember(
    'openapi',
    'invalid',
    'openapi needs exactly one of `document`, `url`, `request` and `requests`.',
  )
}

/** Throws `invalid_request` for faults that can be found without reading the document from its URL. */
function uriOf(settings: OpenapiSettings): string {
  checkOpenapiSettings(settings)
  return baseUri(settings)
}

async function toMembers(sent: Members, projectId: string): Promise<OpenapiSettings> {
  const { document, url, request, requests, server_url, namespace, check_output } = sent
  const { authorization, operations, headers } = sent
  return {
    ...(document !== undefined && {
      document: await toDocument(document, projectId),
    }),
    ...(url !== undefined && { url }),
    ...(request !== undefined && { request: toRequestSettings(request) }),
    ...(requests !== undefined && { requests: requests.map(toRequestSettings) }),
    ...(server_url !== undefined && { serverUrl: server_url }),
    ...(namespace !== undefined && { namespace }),
    ...(authorization && {
      authorization: Object.fromEntries(
        Object.entries(authorization).map(([name, wire]) => [name, fromSchemeWire(wire)]),
      ),
    }),
    ...(operations && {
      operations: {
        ...(operations.include && { include: operations.include }),
        ...(operations.exclude && { exclude: operations.exclude }),
      },
    }),
    ...(headers && { headers }),
    ...(check_output !== undefined && { checkOutput: check_output }),
  }
}

/** Parses text and converts Swagger 2.0 in a thread, because a large document would block the event loop. */
async function toDocument(
  document: string | Readonly<Record<string, unknown>>,
  projectId: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (typeof document !== 'string' && document.swagger === undefined) return document
  try {
    const text = typeof document === 'string' ? document : JSON.stringify(document)
    return await parseInThread(text, projectId)
  } catch (error) {
    if (error instanceof Refusal) throw invalidMember('openapi.document', 'invalid', error.message)
    if (error instanceof WorkerFault) throw new BrokerError('rate_limited', error.message, { retryAfter: 5 })
    throw error
  }
}
