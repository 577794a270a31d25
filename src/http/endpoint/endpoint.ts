import { createRoute, type OpenAPIHono, type z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { ApiKey, Role } from '../../domain/api-key.ts'
import type { Log } from '../../domain/log.ts'
import type { Operation } from '../../operations/operation.ts'
import { errorSchema } from '../../operations/schemas/error-schema.ts'
import { checked, parse } from '../../parsing/parse.ts'
import { inContext } from '../../services/request-context.ts'
import type { Tracing } from '../../services/tracing.ts'
import type { Authenticate, Operator } from './authenticate.ts'
import { limitBody, MAX_API_BODY_BYTES } from './body-limit.ts'
import { callerContext } from './caller-context.ts'
import { statusOf } from './errors.ts'
import type { ExecuteByKey } from './idempotency-key.ts'
import { checkKeyOfUser } from './key-of-user.ts'
import type { ObservedRequest, OnAnswered } from './observed-request.ts'
import type { Charge } from './rate-limit.ts'
import { checkHeaders, hasBody, NOTHING, readBody, readQuery, refuseBody, unknownBy } from './read-request.ts'
import { requestHeader } from './request-header.ts'
import { inRequestSpan } from './request-span.ts'

/** The members of an operation that its endpoint has unchanged. */
type MembersOfOperation =
  | 'method'
  | 'path'
  | 'keysOfUsers'
  | 'tag'
  | 'summary'
  | 'description'
  | 'params'
  | 'query'
  | 'body'
  | 'bodyIsOptional'
  | 'takesIdempotencyKey'
  | 'keyHeader'

/** Defines one method of one path. Requests are checked by the definition, and `/openapi.json` is generated from it. */
export interface EndpointDefinition<
  Params extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType = z.ZodUndefined,
> extends Pick<Operation<Params, Query, Body>, MembersOfOperation> {
  readonly operationId: Operation['id']
  /** Who may call it; `session`: with the token of a connect session, which the handler checks. */
  readonly role: Operation['role'] | 'session'
  readonly responses: Readonly<Record<number, AnswerDefinition>>
}

interface AnswerDefinition {
  readonly description: string
  /** The schema of the body; of an event stream: of the data of one event. Absent: the answer has no body. */
  readonly schema?: z.ZodType
  /** JSON by default. */
  readonly mediaType?: string
}

/** The checked input of a request, and the caller's key. */
export interface EndpointInput<Params, Query, Body> {
  readonly c: Context
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly caller: ApiKey
}

const NO_QUERY = Object.freeze({})
/** A body up to this size is read before the key is checked. */
export const SMALL_BODY_BYTES = 16 * 1024

/** Adds an endpoint to the app. Its handler parses the input, calls one flow and renders the result. */
export type AddEndpoint = ReturnType<typeof createAddEndpoint>

/** What all endpoints share. */
export interface SharedByEndpoints {
  readonly authenticate: Authenticate
  readonly charge: Charge
  readonly executeByKey: ExecuteByKey
  readonly log: Log
  /** Called after every answer, also after a refusal. */
  readonly onAnswered?: OnAnswered
  /** Set if traces are exported. */
  readonly tracing?: Tracing | undefined
  /** Set if every request comes from a command of the operator. */
  readonly operator?: Operator | undefined
}

/** Returns the function that adds endpoints to the app. */
export function createAddEndpoint(
  app: OpenAPIHono,
  { authenticate, charge, executeByKey, log, onAnswered, tracing, operator }: SharedByEndpoints,
) {
  return <
    Params extends z.ZodObject = z.ZodObject<Record<never, never>>,
    Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
    Body extends z.ZodType = z.ZodUndefined,
  >(
    definition: EndpointDefinition<Params, Query, Body>,
    handle: (
      input: EndpointInput<z.output<Params>, z.output<Query>, z.output<Body>>,
    ) => Response | Promise<Response>,
  ): void => {
    document(app, definition)
    const { method, path, params, query, body, bodyIsOptional = false, role, keysOfUsers } = definition
    const { takesIdempotencyKey = false, keyHeader } = definition
    const paramsCheck = params && checked(params, 'the path')
    const queryCheck = checked(query ?? NOTHING, 'the query')
    const isWithoutQuery = query === undefined
    const bodyCheck = body && checked(body, 'the body')
    const isKeyless = role === 'public' || role === 'session'
    const purpose = `${method.toUpperCase()} ${path}`

    const answer = async (c: Context, request?: ObservedRequest): Promise<Response> => {
      // a small body is read first, so that cached look-ups of the key, the provider and the connection follow each
      // other synchronously
      const isSmall = body !== undefined && Number(requestHeader(c, 'content-length')) <= SMALL_BODY_BYTES
      let text = isSmall ? await c.req.text() : undefined
      const known = authenticate(c, isKeyless ? 'public' : role, keyHeader)
      const caller = known instanceof Promise ? await known : known
      if (request !== undefined) request.caller = caller
      if (!isKeyless) {
        charge(caller)
        checkKeyOfUser(caller, keysOfUsers)
      }
      if (body && !isSmall) {
        const limited = limitBody(c, MAX_API_BODY_BYTES)
        if (limited !== undefined) await limited
      }
      // load balancers add headers and parameters of their own to health checks
      const onUnknown = role === 'public' ? () => {} : unknownBy(c, log)
      checkHeaders(c, onUnknown)
      if (body === undefined && method !== 'get' && hasBody(c)) await refuseBody(c, onUnknown)
      if (body !== undefined) text ??= await c.req.text()
      const input = {
        c,
        caller,
        // without a schema both the value and its type are `undefined`
        params: (paramsCheck && parse(paramsCheck, c.req.param())) as z.output<Params>,
        query: (isWithoutQuery && !c.req.url.includes('?')
          ? NO_QUERY
          : readQuery(c, queryCheck, { caller, onUnknown })) as z.output<Query>,
        body: (bodyCheck &&
          readBody(c, text ?? '', bodyCheck, {
            caller,
            isOptional: bodyIsOptional,
            onUnknown,
          })) as z.output<Body>,
      }
      const execute = takesIdempotencyKey
        ? () => executeByKey({ c, caller, path, body: text ?? '' }, () => handle(input))
        : () => handle(input)
      const work =
        tracing === undefined || request === undefined
          ? execute
          : () => inRequestSpan(tracing, definition, request, execute)
      if (isKeyless) return work()
      if (operator !== undefined)
        return inContext({ actor: { kind: 'cli' }, purpose: operator.command }, work)
      return inContext(callerContext(c, caller, purpose), work)
    }

    const respond = onAnswered ? observed(definition, answer, onAnswered) : (c: Context) => answer(c)
    app.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), (c) =>
      c.req.method === 'HEAD' ? cancelBody(respond(c)) : respond(c),
    )
  }
}

/**
 * hono answers HEAD by the handler of GET and drops the body. Without the cancellation an event stream would wait for its
 * reader for ever.
 */
async function cancelBody(answered: Promise<Response>): Promise<Response> {
  const response = await answered
  await response.body?.cancel()
  return response
}

function observed(
  route: Pick<EndpointDefinition, 'method' | 'path'>,
  answer: (c: Context, request: ObservedRequest) => Promise<Response>,
  onAnswered: OnAnswered,
) {
  return async (c: Context): Promise<Response> => {
    const begun = performance.now()
    const request: ObservedRequest = { c, begun }
    try {
      const response = await answer(c, request)
      onAnswered(route, response.status, performance.now() - begun, request)
      return response
    } catch (error) {
      onAnswered(route, statusOf(c, error), performance.now() - begun, request)
      throw error
    }
  }
}

function document(
  app: OpenAPIHono,
  definition: EndpointDefinition<z.ZodObject, z.ZodObject, z.ZodType>,
): void {
  const { operationId, method, path, role, tag, summary, description } = definition
  const { params, query, body, responses } = definition
  const required = definition.bodyIsOptional !== true
  const content = (schema: z.ZodType, mediaType = 'application/json') => ({
    content: { [mediaType]: { schema } },
  })
  const answers = Object.entries(responses).map(([status, { description, schema, mediaType }]) => [
    status,
    { description, ...(schema && content(schema, mediaType)) },
  ])
  app.openAPIRegistry.registerPath(
    createRoute({
      operationId,
      method,
      path,
      tags: [tag],
      summary,
      description: [description, credentialFor(role)].filter(Boolean).join('\n\n'),
      ...(role !== 'public' && { security: [{ [role === 'session' ? 'connectSession' : 'apiKey']: [] }] }),
      request: {
        ...(params && { params }),
        ...(query && { query }),
        ...(body && { body: { ...content(body), required } }),
      },
      responses: {
        ...Object.fromEntries(answers),
        default: { description: 'A refusal', ...content(errorSchema) },
      },
    }),
  )
}

function credentialFor(role: EndpointDefinition['role']): string {
  if (role === 'public') return 'Needs no key.'
  if (role === 'session') return 'Needs the token of a connect session, as `Authorization: Bearer gps_…`.'
  return `Needs a key of the role \`${role}\`${ABOVE[role]}.`
}

const ABOVE = {
  readonly: ' or above',
  caller: ' or above',
  admin: '',
  approver: '',
} as const satisfies Record<Role, string>
