import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Broker } from '../../broker.ts'
import { type ApiKey, userFor } from '../../domain/api-key.ts'
import { authorize, authorizeUser } from '../../operations/authorizations/authorizations.ts'
import { connectionToken, getConnectionToken } from '../../operations/authorizations/connections.ts'
import type { Operation } from '../../operations/operation.ts'
import { inContext } from '../../services/request-context.ts'
import { callerContext } from '../endpoint/caller-context.ts'
import type { SharedByEndpoints } from '../endpoint/endpoint.ts'
import { refusalOf, statusOf } from '../endpoint/errors.ts'
import { checkKeyOfUser } from '../endpoint/key-of-user.ts'
import type { ObservedRequest } from '../endpoint/observed-request.ts'
import { inRequestSpan } from '../endpoint/request-span.ts'
import { HotRequest } from './hot-request.ts'
import { plainAuthorize, plainTokenRequest } from './plain-body.ts'
import { createIsPlainHead } from './plain-head.ts'
import { readBody } from './read-body.ts'

// The shortest way to a token. Callers fetch one for nearly every request that they make, and for a cached one the web
// Request and Response, hono and zod are a quarter of the work. So a request of the plain form is read and answered here,
// on node:http: 82 us instead of 106 (2026-11-29, 32 callers, database in memory, other programs on the machine).
// Keys, limits, operations, errors, metrics, traces and logs are functions of the usual route. What is not of the plain
// form goes there, with the body that was read; test/http/hot-fetch.test.ts compares the two ways.

/** Answers the plain requests for tokens. */
export interface HotFetch {
  /** Whether the request may be answered here, by its first line and its headers. Reads nothing. */
  mayTake(incoming: IncomingMessage): boolean
  /** Reads the body, and answers the request or passes it on. */
  take(incoming: IncomingMessage, outgoing: ServerResponse, ways: Ways): void
}

interface Ways {
  /** Called right before the answer is written. */
  answering(): void
  /** In place of an answer: the usual route answers the request, whose body, if it was read, is in `rawBody`. */
  passOn(): void
}

/** A request of the plain form. */
interface Plain {
  /** The user that the request names. */
  readonly userId?: string
  /** Calls the operation, and returns its answer as JSON. */
  run(caller: ApiKey): Promise<string>
}

/** One endpoint. The types are of the operation. */
interface Hot {
  readonly operation: Pick<Operation, 'method' | 'path' | 'role' | 'keysOfUsers'>
  readonly purpose: string
  /** The path as hono writes it. */
  readonly routePath: string
  /** `undefined`: not of the plain form. */
  read(text: string, id: string): Plain | undefined
}

const AUTHORIZE_PATH = authorize.path
const TOKEN_PATH = /^\/v1\/connections\/([\w-]{1,200})\/token$/

export function createHotFetch(
  broker: Broker,
  { authenticate, charge, log, tracing, onAnswered = () => {} }: SharedByEndpoints,
): HotFetch {
  const isPlainHead = createIsPlainHead(broker)

  const authorizing = hot(authorize, (text) => {
    const body = plainAuthorize(text)
    return body && { userId: body.user_id, run: (caller) => authorizeUser(broker, caller, body) }
  })
  const gettingToken = hot(getConnectionToken, (text, id) => {
    const body = plainTokenRequest(text)
    const need = body && { id, forceRefresh: body.force_refresh }
    return need && { run: async (caller) => JSON.stringify(await connectionToken(broker, caller, need)) }
  })

  /** Runs the steps of an endpoint in its order (`createAddEndpoint`). */
  async function run({ operation, purpose }: Hot, plain: Plain, request: ObservedRequest): Promise<string> {
    const { c } = request
    const known = authenticate(c, operation.role)
    const caller = known instanceof Promise ? await known : known
    request.caller = caller
    charge(caller)
    checkKeyOfUser(caller, operation.keysOfUsers)
    if (caller.userId !== undefined) userFor(caller, plain.userId)
    const execute = () => plain.run(caller)
    const work = tracing === undefined ? execute : () => inRequestSpan(tracing, operation, request, execute)
    return inContext(callerContext(c, caller, purpose), work)
  }

  async function answer(endpoint: Hot, plain: Plain, request: ObservedRequest, answering: () => void) {
    const { c, begun } = request
    const { outgoing } = c.env
    const answered = (status: number) =>
      onAnswered(endpoint.operation, status, performance.now() - begun, request)
    let status = 200
    let headers: Readonly<Record<string, string>> = {}
    let text: string
    try {
      text = await run(endpoint, plain, request)
      answered(status)
    } catch (error) {
      answered(statusOf(c, error))
      const refusal = refusalOf(c, error, log)
      ;({ status, headers } = refusal)
      text = JSON.stringify(refusal.body)
    }
    answering()
    for (const name in headers) outgoing.setHeader(name, headers[name])
    write(outgoing, status, text)
  }

  return {
    mayTake(incoming) {
      const { method, url = '' } = incoming
      if (method !== 'POST' || (url !== AUTHORIZE_PATH && !TOKEN_PATH.test(url))) return false
      return isPlainHead(incoming)
    },
    take(incoming, outgoing, { answering, passOn }) {
      const begun = performance.now()
      const { url = '' } = incoming
      const endpoint = url === AUTHORIZE_PATH ? authorizing : gettingToken
      readBody(incoming, (body) => {
        const plain = body && endpoint.read(body.toString(), TOKEN_PATH.exec(url)?.[1] ?? '')
        if (plain === undefined) {
          if (body !== undefined) Object.assign(incoming, { rawBody: body }) // node-server takes it for the body
          return passOn()
        }
        const c = new HotRequest(endpoint.routePath, incoming, outgoing)
        answer(endpoint, plain, { c, begun }, answering).catch(() => outgoing.destroy())
      })
    },
  }
}

function hot(operation: Hot['operation'], read: Hot['read']): Hot {
  const { method, path } = operation
  return {
    operation,
    purpose: `${method.toUpperCase()} ${path}`,
    routePath: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    read,
  }
}

function write(outgoing: ServerResponse, status: number, body: string): void {
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  outgoing.end(body)
}
