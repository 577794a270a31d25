import { type Context, Hono } from 'hono'
import { splitScope } from '../domain/scopes.ts'
import { type Account, findAccount } from './accounts.ts'
import type { SandboxTokens } from './tokens.ts'

const CHALLENGE = 'Bearer realm="sandbox"'

/** The sandbox's API, which requires its access tokens: it returns the profile of the account. */
export function sandboxApi(tokens: SandboxTokens): Hono {
  /** The account of the bearer token, or a refusal (RFC 6750 section 3.1). */
  async function accountFor(c: Context, scope?: string): Promise<Account | Response> {
    c.header('cache-control', 'no-store')
    const token = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
    if (token === undefined) return refuse(c, 401, CHALLENGE, 'Send an access token.')
    const claims = await tokens.read('access', token)
    const account = claims && findAccount(claims.sub)
    if (!account)
      return refuse(c, 401, `${CHALLENGE}, error="invalid_token"`, 'The access token is expired or revoked.')
    if (scope !== undefined && !splitScope(claims.scope).includes(scope)) {
      const challenge = `${CHALLENGE}, error="insufficient_scope", scope="${scope}"`
      return refuse(c, 403, challenge, `The access token lacks the scope ${scope}.`)
    }
    return account
  }

  return new Hono()
    .get('/userinfo', async (c) => {
      const account = await accountFor(c)
      if (account instanceof Response) return account
      const { sub, name, email } = account
      return c.json({ sub, name, email })
    })
    .get('/api/profile', async (c) => {
      const account = await accountFor(c, 'profile:read')
      if (account instanceof Response) return account
      const { name, email } = account
      return c.json({ name, email, greeting: `Hello ${name}` })
    })
}

function refuse(c: Context, status: 401 | 403, challenge: string, message: string): Response {
  return c.json({ message }, status, { 'www-authenticate': challenge })
}
