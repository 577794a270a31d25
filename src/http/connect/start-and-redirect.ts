import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import type { Authorization } from '../../domain/authorization.ts'
import type { Cause } from '../../domain/causes.ts'
import { BrokerError } from '../../domain/errors.ts'
import { connectUrl } from '../../flows/acquire-tokens.ts'
import { recordRefusal } from '../../flows/authorization-audit.ts'
import { causeOfAuthorization } from '../../flows/causes/explain-authorization.ts'
import { beginLogin } from '../../flows/login/login.ts'
import type { StartedAttempt } from '../../flows/started-attempt.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import { STATUS } from '../endpoint/errors.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import { browserCookies } from './browser-cookies.ts'
import { connectPath } from './connect-view.ts'
import { endingOf, openedElsewhere, showAuthorization } from './show-authorization.ts'
import { siteOf } from './site.ts'

interface Starting {
  readonly id: Authorization['id']
  readonly browserId: string
  /** The values of the connect page's form; absent if the request is not that form. */
  readonly typed?: Readonly<Record<string, string>> | undefined
  /** Answers with what became of typed credentials. */
  readonly finish?: (authorization: Authorization) => Promise<Response>
}

/**
 * Starts an attempt and redirects the browser: to the provider, to the login that must come first, or to the page of an
 * authorization that cannot be started any more.
 */
export async function startAndRedirect(
  c: Context,
  broker: Broker,
  { id, browserId, typed, finish }: Starting,
  start: () => Promise<StartedAttempt>,
): Promise<Response> {
  try {
    const started = await start()
    switch (started.outcome) {
      case 'started':
        if (started.state !== undefined) browserCookies(broker).keepState(c, started.state)
        pageHeaders(c)
        return c.redirect(started.authorizationUrl.href, 303)
      case 'login_required':
        return await sendToLogin(c, broker, started, browserId)
      case 'values_needed': {
        const { authorization, faults } = started
        return showAuthorization(c, broker, authorization, { values: { typed, faults } })
      }
      case 'form_needed': {
        const { authorization, faults, problem } = started
        const page = connectUrl(broker, authorization)
        if (new URL(page).pathname !== c.req.path) {
          pageHeaders(c)
          return c.redirect(page, 303) // after a login: a URL without its code
        }
        return showAuthorization(c, broker, authorization, { values: { typed, faults, problem } })
      }
      case 'finished': {
        const { authorization } = started
        if (finish !== undefined) return finish(authorization)
        pageHeaders(c)
        return c.redirect(connectUrl(broker, authorization), 303)
      }
      case 'provider_unavailable': {
        const { authorization } = started
        const again = connectPath(authorization)
        return endingOf(c, broker, authorization, { kind: 'provider_unavailable', again }, 503)
      }
      case 'wrong_browser':
        return openedElsewhere(c, broker, await broker.store.authorizations.find(id))
      case 'not_startable': {
        const page = connectUrl(broker, started.authorization)
        if (new URL(page).pathname === c.req.path) return showAuthorization(c, broker, started.authorization)
        pageHeaders(c)
        return c.redirect(page, 303) // a URL without the parameters of a callback
      }
    }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    broker.log.warn(
      { authorizationId: id, reason: error.code, why: error.message },
      'an authorization could not be started',
    )
    const authorization = await broker.store.authorizations.find(id)
    // a failure of the server, such as that of its database, says nothing about the settings of the provider
    const kind = STATUS[error.code] < 500 ? 'not_set_up' : 'problem'
    const cause =
      authorization !== undefined && error.code === 'provider_incomplete'
        ? await causeOfRefusal(broker, authorization, error.code)
        : undefined
    return endingOf(c, broker, authorization, { kind, cause, authorizationId: authorization?.id }, 503)
  }
}

async function causeOfRefusal(
  broker: Broker,
  authorization: Authorization,
  reason: 'provider_incomplete',
): Promise<Cause | undefined> {
  await recordRefusal(broker, authorization, reason)
  return causeOfAuthorization(broker, authorization)
}

/** Sends the browser to the login that comes before the provider. */
export async function sendToLogin(
  c: Context,
  broker: Broker,
  {
    verifier,
    authorization,
    given,
  }: Pick<Extract<StartedAttempt, { outcome: 'login_required' }>, 'verifier' | 'authorization'> & {
    readonly given?: Readonly<Record<string, string>>
  },
  browserId: string,
  prompt?: 'login',
): Promise<Response> {
  try {
    const login = await beginLogin(
      broker,
      verifier,
      { authorizationId: authorization.id, ...(given && { given }) },
      { browserId, at: siteOf(c, broker).url, prompt },
    )
    browserCookies(broker).setLogin(c, login)
    pageHeaders(c)
    return c.redirect(login.loginUrl.href, 303)
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error
    broker.log.warn(
      {
        authorizationId: authorization.id,
        issuer: verifier.issuer,
        reason: error.reason,
        why: error.message,
      },
      'a user could not be sent to log in',
    )
    return showAuthorization(c, broker, authorization, { trouble: 'unavailable', loginAt: verifier.issuer })
  }
}
