import type { Context } from 'hono'
import { BrokerError } from '../../domain/errors.ts'
import { definitionOf, RequestOf, respond } from '../../http/endpoint/add-operation.ts'
import { createClientAddress } from '../../http/endpoint/client-address.ts'
import { requestHeader } from '../../http/endpoint/request-header.ts'
import { requestId } from '../../http/endpoint/request-id.ts'
import type { AddEndpoints } from '../../http/page-routes.ts'
import { inContext } from '../../services/request-context.ts'
import type { CurrentSession } from './connect-session.ts'
import * as current from './operations-current.ts'
import type { SessionOperation } from './operations-define.ts'
import { CURRENT_PATH, connectSessionAt, SESSION_RATE } from './routes-session.ts'

const PREFLIGHT_SECONDS = 600

/** The endpoints that a page of an application calls with the token of its session, from the origin that the session allows. */
export const addSessionEndpoints: AddEndpoints = ({ app, add, broker, limits }) => {
  const { charge, countGuess } = limits
  const clientAddress = createClientAddress(broker.settings)

  for (const path of [CURRENT_PATH, `${CURRENT_PATH}/:what`])
    app.options(path, (c) => {
      allowOrigin(c)
      c.header('access-control-allow-methods', 'GET, POST')
      c.header('access-control-allow-headers', 'authorization')
      c.header('access-control-max-age', String(PREFLIGHT_SECONDS))
      return c.body(null, 204)
    })

  /** Runs `handle` with the session whose token the request has. A page of the allowed origin can read refusals too. */
  async function withSession(
    c: Context,
    handle: (current: CurrentSession) => Promise<Response>,
  ): Promise<Response> {
    c.header('cache-control', 'no-store')
    const token =
      requestHeader(c, 'authorization')
        ?.replace(/^bearer\s+/i, '')
        .trim() ?? ''
    const found = await connectSessionAt(c, broker, token)
    const origin = requestHeader(c, 'origin')
    if (found.outcome !== 'unknown' && origin !== found.session.origin)
      throw new BrokerError(
        'invalid_authorization',
        'Only pages of the allowed_origin of its session may use this token, by fetch.',
      )
    allowOrigin(c)
    if (found.outcome === 'unknown') {
      countGuess(clientAddress(c))
      throw new BrokerError(
        'invalid_authorization',
        'There is no session with this token. It goes into `Authorization: Bearer gps_…`.',
      )
    }
    const { session } = found
    charge({ id: session.id, rateLimit: SESSION_RATE })
    if (found.outcome === 'over')
      throw new BrokerError(
        'invalid_authorization',
        'This session is over. Ask your own server for a new one (POST /v1/connect_sessions).',
      )
    const context = {
      actor: { kind: 'user', id: session.userId },
      purpose: `${c.req.method} ${c.req.path}`,
      onlyUser: session.userId,
      requestId: requestId(c),
    } as const
    return inContext(context, () => handle(found))
  }

  for (const operation of Object.values<SessionOperation>(current)) {
    const { run: _, keyInBody: __, headers: ___, ...described } = operation
    add(definitionOf({ ...described, role: 'session' }), ({ c, query }) =>
      withSession(c, async (session) => {
        const result = await operation.run(broker, { query, session, request: new RequestOf(c) })
        return respond(c, broker, operation, result)
      }),
    )
  }
}

/**
 * Lets scripts of the requesting origin read the answer, without cookies. `withSession` checks first that it is the origin
 * of the session; a preflight request has no token, so for it nothing can be checked.
 */
function allowOrigin(c: Context): void {
  const origin = requestHeader(c, 'origin')
  c.header('vary', 'Origin')
  if (origin !== undefined) c.header('access-control-allow-origin', origin)
}
