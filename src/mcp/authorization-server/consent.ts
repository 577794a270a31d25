import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Grant, Interaction, InteractionResults } from 'oidc-provider'
import type { Broker } from '../../broker.ts'
import { LOGIN_TROUBLES } from '../../flows/identify-user.ts'
import type { UserSession } from '../../flows/user-session.ts'
import { isFromOwnPage } from '../../http/connect/own-page.ts'
import { endSession, sendToSessionLogin, sessionOf } from '../../http/connect/session-login.ts'
import { wordsAndBrand } from '../../http/connect/show-authorization.ts'
import { bodyLimit } from '../../http/endpoint/body-limit.ts'
import { createClientAddress } from '../../http/endpoint/client-address.ts'
import { pageHeaders } from '../../http/pages/page-headers.ts'
import { csrfToken, isCsrfToken } from '../../services/csrf-token.ts'
import { type AskedConsent, createApproval } from './approval.ts'
import { consentPage } from './consent-page.ts'
import { createRefuse } from './koa-answer.ts'
import { loginTroublePage } from './login-trouble-page.ts'
import { nodeExchange } from './node-request.ts'
import type { AuthorizationServerParts } from './parts.ts'
import { CONSENT_PATH } from './paths.ts'
import { inRequest } from './served-request.ts'

const MAX_FORM_BYTES = 8 * 1024

/** Adds the page on which a user who has logged in allows or refuses an MCP client. */
export function addConsent(
  app: OpenAPIHono,
  broker: Broker,
  { projectId, provider }: AuthorizationServerParts,
): void {
  const approval = createApproval(broker, provider)
  const { publicUrl } = broker.settings
  const refuse = createRefuse(broker, projectId)
  const clientAddress = createClientAddress(broker.settings)

  /** The interaction of the URL, found by the cookie of the browser that began it; `undefined` in other browsers. */
  async function interactionOf(c: Context): Promise<Interaction | undefined> {
    const { req, res } = nodeExchange({
      publicUrl,
      method: 'GET',
      path: c.req.path,
      headers: c.req.raw.headers,
    })
    try {
      const interaction = await (await provider()).interactionDetails(req, res)
      return interaction.uid === c.req.param('uid') ? interaction : undefined
    } catch (error) {
      if (error instanceof Error && error.name === 'SessionNotFound') return undefined
      throw error
    }
  }

  /** Gives the result to oidc-provider and sends the browser to the authorization endpoint, which goes on. */
  async function finish(c: Context, result: InteractionResults): Promise<Response> {
    const { req, res } = nodeExchange({
      publicUrl,
      method: 'GET',
      path: c.req.path,
      headers: c.req.raw.headers,
    })
    const returnTo = await (await provider()).interactionResult(req, res, result, {
      mergeWithLastSubmission: false,
    })
    pageHeaders(c)
    return c.redirect(new URL(new URL(returnTo).pathname, publicUrl).href, 303)
  }

  function allow(c: Context, session: UserSession, grant: Grant): Promise<Response> {
    return finish(c, {
      login: { accountId: session.userId, ts: session.loggedInAt, remember: false },
      consent: { grantId: grant.jti },
    })
  }

  async function askedIn(
    { params }: Interaction,
    { userId }: UserSession,
  ): Promise<AskedConsent | undefined> {
    // a metadata document that is fetched again may be unreadable now
    const client = await (await provider()).Client.find(String(params.client_id)).catch(() => undefined)
    if (client === undefined) return undefined
    const redirectUri = String(params.redirect_uri)
    const scopes = String(params.scope).split(' ')
    return { client, redirectUri, resource: String(params.resource), scopes, userId, projectId }
  }

  function toLogin(c: Context, interaction: Interaction, prompt?: 'login') {
    return sendToSessionLogin(c, broker, {
      projectId,
      returnTo: `${CONSENT_PATH}/${interaction.uid}`,
      prompt,
    })
  }

  app.use(`${CONSENT_PATH}/*`, bodyLimit(MAX_FORM_BYTES), (c, next) =>
    inRequest({ c, address: clientAddress(c) }, next),
  )

  app.get(`${CONSENT_PATH}/:uid`, async (c) => {
    const interaction = await interactionOf(c)
    if (interaction === undefined) return refuse(c, 400, { error: 'session_not_found' })
    const session = await sessionOf(c, broker, projectId)
    const trouble = LOGIN_TROUBLES.find((reason) => reason === c.req.query('login'))
    if (session === undefined || isLoginTooOld(interaction, session, broker.now())) {
      if (trouble === undefined) return toLogin(c, interaction, session && 'login')
      pageHeaders(c, { hasForm: true, formTo: [publicUrl] })
      const look = await wordsAndBrand(c, broker, { projectId })
      return c.html(loginTroublePage({ trouble, action: c.req.path, ...look }))
    }
    const asked = await askedIn(interaction, session)
    if (asked === undefined) return refuse(c, 400, { error: 'invalid_client' })
    const grant = await approval.remembered(asked, interaction)
    if (grant !== undefined) return allow(c, session, grant)
    pageHeaders(c, { hasForm: true, formTo: [new URL(asked.redirectUri)] })
    const look = await wordsAndBrand(c, broker, { projectId })
    const csrf = csrfToken(broker, 'form', interaction.uid, session.userId)
    return c.html(consentPage({ ...asked, ...look, action: c.req.path, csrf }))
  })

  app.post(`${CONSENT_PATH}/:uid`, async (c) => {
    const interaction = isFromOwnPage(c, broker) ? await interactionOf(c) : undefined
    if (interaction === undefined) return refuse(c, 400, { error: 'session_not_found' })
    const form = new URLSearchParams(await c.req.text())
    const decision = form.get('decision')
    if (decision === 'login') {
      await endSession(c, broker)
      return toLogin(c, interaction, 'login')
    }
    const session = await sessionOf(c, broker, projectId)
    if (
      session === undefined ||
      !isCsrfToken(form, csrfToken(broker, 'form', interaction.uid, session.userId))
    )
      return toConsent(c)
    if (decision !== 'allow')
      return finish(c, {
        error: 'access_denied',
        error_description: 'The user did not allow the access.',
      })
    const asked = await askedIn(interaction, session)
    if (asked === undefined) return refuse(c, 400, { error: 'invalid_client' })
    if (await approval.isFull(asked)) return refuse(c, 400, { error: 'too_many_clients' })
    return allow(c, session, await approval.approve(asked))
  })
}

/** Sends the browser to the page again: the session has ended, or the form belongs to another user. */
function toConsent(c: Context): Response {
  pageHeaders(c)
  return c.redirect(c.req.path, 303)
}

/** Whether `prompt` or `max_age` requires a later login than the session's (OpenID Connect Core section 3.1.2.1). */
function isLoginTooOld({ params, iat }: Interaction, { loggedInAt }: UserSession, now: number): boolean {
  if (
    String(params.prompt ?? '')
      .split(' ')
      .includes('login') &&
    loggedInAt < iat
  )
    return true
  return params.max_age !== undefined && now - loggedInAt > Number(params.max_age) && loggedInAt < iat
}
