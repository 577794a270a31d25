import { randomUUID } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { DEFAULT_ACCOUNT, findAccount } from './accounts.ts'
import { type AuthorizationRequest, readAuthorizationRequest } from './authorization-request.ts'
import { consentPage, PAGE_HEADERS, refusalPage, sandboxCss } from './pages.ts'
import type { SandboxTokens } from './tokens.ts'

interface AuthorizationEndpointOptions {
  readonly issuer: string
  /** The URL that every redirect URI must begin with. */
  readonly callbacks: URL
  readonly tokens: SandboxTokens
}

/**
 * The authorization endpoint (RFC 6749 section 3.1). GET shows the consent page; its form POSTs to the same URL, so
 * no request has to be stored. There are no sessions: any visitor may approve as any account.
 */
export function authorizationEndpoint({ issuer, callbacks, tokens }: AuthorizationEndpointOptions): Hono {
  /** The authorization response (RFC 6749 section 4.1.2), with `iss` (RFC 9207). */
  function respond(c: Context, redirectUri: string, answer: Readonly<Record<string, string>>): Response {
    const to = new URL(redirectUri)
    for (const [name, value] of Object.entries({ ...answer, iss: issuer })) to.searchParams.set(name, value)
    return c.redirect(to.href, 303)
  }

  /** The account and scopes that the form approves; `undefined` for an unknown account. */
  function readApproval(form: URLSearchParams, { scopes }: AuthorizationRequest) {
    const account = findAccount(form.get('account') ?? DEFAULT_ACCOUNT.sub)
    // browsers do not send unticked boxes; the hidden field `scopes_shown` tells "none ticked" from "not asked"
    const ticked = form.has('scopes_shown') ? form.getAll('scope') : scopes
    return account && { account, scopes: scopes.filter((scope) => ticked.includes(scope)) }
  }

  return new Hono()
    .get('/sandbox.css', (c) => c.body(sandboxCss, 200, { 'content-type': 'text/css; charset=utf-8' }))
    .on(['GET', 'POST'], '/authorize', async (c) => {
      for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value)
      const reading = readAuthorizationRequest(new URL(c.req.url).searchParams, callbacks)
      if (reading.outcome === 'unknown_client') return c.html(refusalPage(reading.message), 400)
      if (reading.outcome === 'refused') return respond(c, reading.redirectUri, reading.answer)
      const { request } = reading
      if (c.req.method !== 'POST') return c.html(consentPage(request.scopes))

      const form = new URLSearchParams(await c.req.text())
      const approval = readApproval(form, request)
      const decision = form.get('decision')
      if ((decision !== 'allow' && decision !== 'deny') || !approval)
        return c.html(
          refusalPage('The form has no decision (allow or deny), or an account unknown here.'),
          400,
        )
      const { redirectUri, codeChallenge, state } = request
      const echo = state === undefined ? {} : { state }
      if (decision === 'deny' || approval.scopes.length === 0) {
        const error_description = decision === 'deny' ? 'The user said no.' : 'The user approved no scope.'
        return respond(c, redirectUri, { error: 'access_denied', error_description, ...echo })
      }
      const code = await tokens.issue('code', {
        sub: approval.account.sub,
        scope: approval.scopes.join(' '),
        grant: randomUUID(),
        redirect_uri: redirectUri,
        code_challenge: codeChallenge,
      })
      return respond(c, redirectUri, { code, ...echo })
    })
}
