import type { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Broker } from '../../broker.ts'
import {
  Answer,
  type AnswerHeaders,
  EventStream,
  FileContent,
  JsonText,
  TextStream,
} from '../../operations/answer.ts'
import type { Operation, OperationRequest } from '../../operations/operation.ts'
import { jsonBody } from '../../tools/large-json.ts'
import type { AddEndpoint, EndpointDefinition } from './endpoint.ts'
import { toRefusal, toWire } from './errors.ts'
import { createExecuteOnce } from './idempotency.ts'
import { markWithoutEffect } from './idempotency-key.ts'
import { STAINLESS } from './read-request.ts'
import { requestHeader } from './request-header.ts'
import { sendEvents } from './send-events.ts'
import { streamedBody } from './streamed-body.ts'

/** Adds the endpoint of an operation: it runs the operation and makes the response of what `run` returns. */
export function addOperation(add: AddEndpoint, broker: Broker, operation: Operation): void {
  const { run: _, keyInBody, headers = {}, ...described } = operation
  const executeOnce = keyInBody && createExecuteOnce(broker)
  add(definitionOf(described), ({ c, caller, params, query, body }) => {
    const input = { caller, params, query, body, request: new RequestOf(c) }
    setHeaders(c, headers)
    const own = keyInBody?.(input)
    if (own !== undefined && executeOnce !== undefined) {
      const { kind, key, content } = own
      const { signal } = input.request
      return executeOnce({ caller, key: [operation.path, key], content, kind, signal }, async () => {
        const result = await operation.run(broker, input)
        const mayBeRepeated = result instanceof Answer && result.hadNoEffect
        return { response: respond(c, broker, operation, result), mayBeRepeated }
      })
    }
    const result = operation.run(broker, input)
    return result instanceof Promise
      ? result.then((output) => respond(c, broker, operation, output))
      : respond(c, broker, operation, result)
  })
}

type Described = Omit<Operation, 'run' | 'keyInBody' | 'headers' | 'role'> & {
  readonly role: EndpointDefinition['role']
}

export function definitionOf(operation: Described): EndpointDefinition<z.ZodObject, z.ZodObject, z.ZodType> {
  const { id, answer, output, mediaType, otherAnswers, status, repetition: _, ...rest } = operation
  const main = {
    description: answer,
    ...(output && { schema: output }),
    ...(mediaType !== undefined && { mediaType }),
  }
  return { ...rest, operationId: id, responses: { [statusOf(operation)]: main, ...otherAnswers } }
}

function statusOf({ status, output, mediaType }: Pick<Operation, 'status' | 'output' | 'mediaType'>): number {
  return status ?? (output === undefined && mediaType === undefined ? 204 : 200)
}

/** Its members are getters, because most operations need none of them. */
export class RequestOf implements OperationRequest {
  readonly #c: Context
  constructor(c: Context) {
    this.#c = c
  }
  get signal(): AbortSignal {
    return this.#c.req.raw.signal
  }
  get cancelSignal(): AbortSignal | undefined {
    return this.header('idempotency-key') === undefined ? this.signal : undefined
  }
  get isArcade(): boolean {
    return this.header(STAINLESS) !== undefined
  }
  header(name: Lowercase<string>): string | undefined {
    return requestHeader(this.#c, name)
  }
}

/** Makes the response of what `run` of an operation returned. */
export function respond(
  c: Context,
  broker: Broker,
  operation: Parameters<typeof statusOf>[0],
  result: unknown,
): Response {
  const { value, status, headers, hadNoEffect } = result instanceof Answer ? result : new Answer(result)
  if (hadNoEffect) markWithoutEffect(c)
  setHeaders(c, headers)
  if (value instanceof EventStream) return respondWithEvents(c, broker, value)
  if (value instanceof TextStream) return respondWithText(c, value)
  if (value instanceof FileContent) return respondWithFile(c, value)
  const code = status ?? statusOf(operation)
  if (value === undefined) return c.body(null, code as 204)
  const body = value instanceof JsonText ? value.text : jsonBody(value)
  const sent = typeof body === 'string' ? body : (body as Uint8Array<ArrayBuffer>) // Node's buffers are not shared
  return c.body(sent, code as ContentfulStatusCode, { 'content-type': 'application/json' })
}

function setHeaders(c: Context, headers: AnswerHeaders): void {
  for (const [name, text] of Object.entries(headers)) c.header(name as Lowercase<string>, text) // `AnswerHeaders`
}

/** Answers with text that is not JSON. */
export function respondWithText(c: Context, { mediaType, pieces, headers }: TextStream): Response {
  setHeaders(c, headers)
  c.header('content-type', mediaType)
  return c.body(typeof pieces === 'string' ? pieces : streamedBody(pieces))
}

/** Answers with a file that others wrote: saved and never run, of any media type. */
function respondWithFile(c: Context, { mediaType, bytes, name }: FileContent): Response {
  c.header('content-type', mediaType)
  c.header('content-disposition', `attachment; filename*=UTF-8''${encodeURIComponent(name)}`)
  c.header('x-content-type-options', 'nosniff')
  c.header('content-security-policy', "sandbox; default-src 'none'")
  c.header('cache-control', 'private, no-store')
  return c.body(bytes)
}

function respondWithEvents(c: Context, broker: Broker, { send, errorData }: EventStream): Response {
  return sendEvents(c, async (stream) => {
    const gone = new AbortController()
    stream.onAbort(() => gone.abort())
    try {
      await send({
        event: (event, data) => stream.writeSSE({ event, data }),
        write: async (text: string | Uint8Array) => void (await stream.write(text)),
        signal: gone.signal,
      })
    } catch (error) {
      const refusal = toWire(toRefusal(error, c.req.path, broker.log))
      await stream.writeSSE({ event: 'error', data: JSON.stringify(errorData(refusal)) })
    }
  })
}
