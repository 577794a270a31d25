import type { z } from '@hono/zod-openapi'
import type { Broker } from '../broker.ts'
import type { ApiKey, Role } from '../domain/api-key.ts'
import type { Answer, AnswerHeaders, EventStream, FileContent, JsonText, TextStream } from './answer.ts'

// An operation of the API, described once. `http/` makes the endpoint and `/openapi.json` of it, and the types and
// requests of the SDK are generated from it; commands and pages use those.

/** The schema of params or a query without members. */
export type None = z.ZodObject<Record<never, never>>

/** One method of one path. */
export interface Operation<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  Others extends OtherAnswers = OtherAnswers,
> {
  /** The name of the operation in the OpenAPI document and in clients made from it: it never changes. */
  readonly id: string
  /**
   * The method of the SDK's client that is generated for it, such as `admin.secrets.set(key, body.value)`. Its arguments
   * are parameters of the path, members of the body (`body.value`), or the body as a whole under any other name, with `?`
   * if it may be left out. The options follow, which are not written: they have the members of the body that no argument
   * has. A list has its filter in their place.
   */
  readonly sdk?: `admin.${string}(${string})`
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** Parameters are written `{name}`. */
  readonly path: `/${string}`
  /** Who may call it; `public` needs no key. */
  readonly role: Role | 'public'
  /** A header, in lower case, that may carry the key if the request has no `Authorization`. */
  readonly keyHeader?: Lowercase<string>
  /** What a key of one user may do here. Without it such keys are refused. */
  readonly keysOfUsers?: KeysOfUsers
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** A request without a body counts as `{}`. */
  readonly bodyIsOptional?: boolean
  /** A request with an `Idempotency-Key` is executed once. Elsewhere the header has no effect. */
  readonly takesIdempotencyKey?: boolean
  /** Returns the idempotency key that the body of a request carries, by which the request is executed once. */
  keyInBody?(input: OperationInput<z.output<Params>, z.output<Query>, z.output<Body>>): KeyInBody | undefined
  /** Headers of every answer, also of a refusal by `run`. */
  readonly headers?: AnswerHeaders
  /**
   * Whether the SDK sends a POST again when its answer was lost: `unsafe` for one whose answer shows something once.
   * Requests with an idempotency key are always sent again. The default is `safe`.
   */
  readonly repetition?: 'safe' | 'unsafe'
  /** The status of the answer; 200 by default, 204 without `output`. */
  readonly status?: 200 | 201
  /** What the answer is, in words. */
  readonly answer: string
  /** The schema of the answer's JSON; of an event stream: of the data of one event. Absent: the answer has no body. */
  readonly output?: Output
  /** JSON by default. */
  readonly mediaType?: string
  /** Answers of other statuses that are no refusals of the kind that every operation has. */
  readonly otherAnswers?: Others
  /** Calls one flow, which holds the rules, and returns the output. Throws `BrokerError`. */
  run(
    broker: Broker,
    input: OperationInput<z.output<Params>, z.output<Query>, z.output<Body>>,
  ): ResultOf<Output, Others> | Promise<ResultOf<Output, Others>>
}

/** By status. Without a schema the answer has no body. */
export type OtherAnswers = Readonly<
  Record<number, { readonly description: string; readonly schema?: z.ZodType }>
>

type ResultOf<Output extends z.ZodType, Others extends OtherAnswers> = Result<
  Sent<z.input<Output>>,
  Sent<{ [Status in keyof Others]: BodyOf<Others[Status]> }[keyof Others]>
>
type BodyOf<Other> = Other extends { readonly schema: infer Schema extends z.ZodType }
  ? z.input<Schema>
  : undefined

/** The type with all members and lists readonly. */
export type Sent<T> = T extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : T extends object
    ? { readonly [Member in keyof T]: Sent<T[Member]> }
    : T

/** An idempotency key that a member of the body carries. */
export interface KeyInBody {
  readonly kind: 'call_id'
  readonly key: string
  /** The content of the request. The same key with other content is refused. */
  readonly content: string
}

/** What `run` returns: the output itself, or an answer with more than `output` says. */
export type Result<Value, Other = never> =
  | Value
  | Answer<Value | Other>
  | JsonText
  | EventStream
  | TextStream
  | FileContent

/**
 * What a key that acts for one user (`ApiKey.userId`) may do. `user_id`: act for its user, whose id is put into the
 * member or parameter `user_id`. `own`: reach records of its user, which the operation checks.
 */
export type KeysOfUsers = 'user_id' | 'own'

/** The checked input of a request, and the caller's key. */
export interface OperationInput<Params, Query, Body> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly caller: ApiKey
  readonly request: OperationRequest
}

/** What a few operations need of the request besides its input. */
export interface OperationRequest {
  /** Aborted when the caller closes the connection. */
  readonly signal: AbortSignal
  /**
   * The signal that cancels a run when its caller closes the connection. Absent with an Idempotency-Key, because the
   * caller can repeat the request for the answer.
   */
  readonly cancelSignal: AbortSignal | undefined
  /** Whether it comes from an SDK of Arcade, which is answered in Arcade's dialect. */
  readonly isArcade: boolean
  header(name: Lowercase<string>): string | undefined
}

export function defineOperation<
  Params extends z.ZodObject = None,
  Query extends z.ZodObject = None,
  Body extends z.ZodType = z.ZodUndefined,
  Output extends z.ZodType = z.ZodVoid,
  const Others extends OtherAnswers = Record<never, never>,
>(operation: Operation<Params, Query, Body, Output, Others>): Operation<Params, Query, Body, Output, Others> {
  return operation
}
