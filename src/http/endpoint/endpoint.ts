import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { ApiKey, Role } from '../../domain/api-key.ts'
import type { Log } from '../../domain/log.ts'
import { inContext } from '../../services/request-context.ts'
import type { Authenticate, Operator } from './authenticate.ts'
import { limitBody, MAX_API_BODY_BYTES } from './body-limit.ts'
import { statusOf } from './errors.ts'
import { limitQuery, wholeNumber } from './fields.ts'
import { checked, parse } from './parse.ts'
import type { Charge } from './rate-limit.ts'
import { checkHeaders, hasBody, NOTHING, readBody, readQuery, refuseBody, unknownBy } from './read-request.ts'
import { requestId } from './request-id.ts'

/** What one path and method takes and answers: it checks the input and is what `/openapi.json` is made of. */
export interface EndpointDefinition<
  Params extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType = z.ZodUndefined,
> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** With `{name}` for parameters. */
  readonly path: `/${string}`
  /** Who may call it; `public` needs no key. */
  readonly role: Role | 'public'
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** No body at all counts as `{}`. */
  readonly bodyIsOptional?: boolean
  readonly responses: Readonly<Record<number, { readonly description: string; readonly schema?: z.ZodType }>>
}

/** Checked input, and the key of the caller. */
export interface EndpointInput<Params, Query, Body> {
  readonly c: Context
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly caller: ApiKey
}

const FAULT_CODES =
  '`missing`, `wrong_type`, `not_one_of`, `too_short`, `too_long`, `too_small`, `too_large`, `unknown_member`, `unknown_parameter`, `repeated_parameter`, `invalid_json`, `not_allowed`, `conflict`, `unknown`, `invalid`'

export const errorSchema = z
  .object({
    name: z.string().openapi({ description: 'A stable code to switch on', example: 'invalid_request' }),
    message: z.string().openapi({ description: 'What happened and what to do' }),
    errors: z
      .array(
        z.object({
          path: z.string().openapi({
            description: 'The member, parameter or header; empty for the whole',
            example: 'auth_requirement.oauth2.scopes.0',
          }),
          code: z.string().openapi({ description: FAULT_CODES, example: 'missing' }),
          message: z.string(),
          line: z.number().int().optional().openapi({ description: 'In broken JSON, from 1' }),
          column: z.number().int().optional(),
        }),
      )
      .optional()
      .openapi({ description: 'Each thing that is wrong with the request' }),
  })
  .openapi('Error')

/** What anybody may send before it is known who they are. */
const SMALL_BODY_BYTES = 16 * 1024

/** Adds endpoints to an app; each is parse, one flow, render. */
export type AddEndpoint = ReturnType<typeof endpoints>

/** What stands around every endpoint. */
export interface EndpointSurroundings {
  readonly authenticate: Authenticate
  readonly charge: Charge
  readonly log: Log
  /** Told of every answer, refusals too. */
  readonly onAnswered?: OnAnswered
  /** Present where all requests are the operator's own. */
  readonly operator?: Operator | undefined
}

export type OnAnswered = (
  route: { readonly method: string; readonly path: string },
  status: number,
  milliseconds: number,
  by: Answered,
) => void

/** The request that was answered, and whose it was as far as that was found out. */
export interface Answered {
  readonly c: Context
  caller?: ApiKey
}

export function endpoints(
  app: OpenAPIHono,
  { authenticate, charge, log, onAnswered, operator }: EndpointSurroundings,
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
    const { method, path, params, query, body, bodyIsOptional = false, role } = definition
    const paramsCheck = params && checked(params, 'the path')
    const queryCheck = checked(query ?? NOTHING, 'the query')
    const bodyCheck = body && checked(body, 'the body')
    const purpose = `${method.toUpperCase()} ${path}`

    const answer = async (c: Context, by?: Answered): Promise<Response> => {
      // a small one is read first: then key, provider and connection are looked at in one go, with nothing between
      const isSmall = body !== undefined && Number(c.req.header('content-length')) <= SMALL_BODY_BYTES
      if (isSmall) await c.req.text()
      const known = authenticate(c, role)
      const caller = known instanceof Promise ? await known : known
      if (by !== undefined) by.caller = caller
      if (role !== 'public') charge(caller)
      if (body && !isSmall) {
        const limited = limitBody(c, MAX_API_BODY_BYTES)
        if (limited !== undefined) await limited
      }
      // a load balancer may ask for /health with whatever it likes
      const onUnknown = role === 'public' ? () => {} : unknownBy(c, log)
      checkHeaders(c, onUnknown)
      if (body === undefined && method !== 'get' && hasBody(c)) await refuseBody(c, onUnknown)
      const input = {
        c,
        caller,
        // without a schema the type says there is nothing, so nothing is what it is
        params: (paramsCheck && parse(paramsCheck, c.req.param())) as z.output<Params>,
        query: readQuery(c, queryCheck, onUnknown) as z.output<Query>,
        body: (bodyCheck &&
          (await readBody(c, bodyCheck, { isOptional: bodyIsOptional, onUnknown }))) as z.output<Body>,
      }
      if (role === 'public') return handle(input)
      if (operator !== undefined)
        return inContext({ actor: { kind: 'cli' }, purpose: operator.command }, () => handle(input))
      const actor = { kind: 'api_key', id: caller.id } as const
      return inContext({ actor, apiKey: caller, purpose, requestId: requestId(c) }, () => handle(input))
    }

    app.on(
      method,
      path.replaceAll(/\{(\w+)\}/g, ':$1'),
      onAnswered ? observed(definition, answer, onAnswered) : (c) => answer(c),
    )
  }
}

function observed(
  route: Pick<EndpointDefinition, 'method' | 'path'>,
  answer: (c: Context, by: Answered) => Promise<Response>,
  onAnswered: OnAnswered,
) {
  return async (c: Context): Promise<Response> => {
    const begun = performance.now()
    const by: Answered = { c }
    try {
      const response = await answer(c, by)
      onAnswered(route, response.status, performance.now() - begun, by)
      return response
    } catch (error) {
      onAnswered(route, statusOf(error), performance.now() - begun, by)
      throw error
    }
  }
}

function document(
  app: OpenAPIHono,
  definition: EndpointDefinition<z.ZodObject, z.ZodObject, z.ZodType>,
): void {
  const { method, path, role, tag, summary, description, params, query, body, responses } = definition
  const required = definition.bodyIsOptional !== true
  const json = (schema: z.ZodType) => ({ content: { 'application/json': { schema } } })
  const answers = Object.entries(responses).map(([status, { description, schema }]) => [
    status,
    { description, ...(schema && json(schema)) },
  ])
  app.openAPIRegistry.registerPath(
    createRoute({
      method,
      path,
      tags: [tag],
      summary,
      description: [
        description,
        role === 'public' ? 'Needs no key.' : `Needs a key of the role \`${role}\`${ABOVE[role]}.`,
      ]
        .filter(Boolean)
        .join('\n\n'),
      ...(role !== 'public' && { security: [{ apiKey: [] }] }),
      request: {
        ...(params && { params }),
        ...(query && { query }),
        ...(body && { body: { ...json(body), required } }),
      },
      responses: {
        ...Object.fromEntries(answers),
        default: { description: 'A refusal', ...json(errorSchema) },
      },
    }),
  )
}

const ABOVE = { readonly: ' or above', caller: ' or above', admin: '' } as const satisfies Record<
  Role,
  string
>

/** `?offset=&limit=` of every list. More than there may be is as many as there may be: clients ask for 1000. */
export const pageQuery = {
  offset: wholeNumber({ min: 0 }).default(0),
  limit: limitQuery(100).default(25),
}

/** Of a list whose clients follow no pages: without a limit all of it is one. */
export const wholeListQuery = { offset: pageQuery.offset, limit: limitQuery(100).optional() }

/** A list in Arcade's page form. */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    total_count: z.number().int(),
    offset: z.number().int(),
    limit: z.number().int(),
    page_count: z.number().int(),
  })
}

/** `page_count` is how many items this page has; its `offset` is always there, or clients would read it for ever. */
export function toPage<T>(
  items: readonly T[],
  total: number,
  { offset, limit }: { offset: number; limit: number },
) {
  return { items, total_count: total, offset, limit, page_count: items.length }
}

/** A page out of a list that is read whole. */
export function slicePage<T>(all: readonly T[], page: { offset: number; limit: number }) {
  return toPage(all.slice(page.offset, page.offset + page.limit), all.length, page)
}
