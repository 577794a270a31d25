// A web application whose users connect an account at a provider, and come back. It never holds a token.
//   GATEPASS_URL=http://localhost:8400 GATEPASS_API_KEY=... node examples/web-app/server.ts
import { randomUUID } from 'node:crypto'
import { Gatepass } from '@gatepass/sdk'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { HTTPException } from 'hono/http-exception'
import { loginPage, messagePage } from '../sample-pages.ts'
import { type Account, homePage, type Profile } from './pages.ts'

const { PORT = '3000', APP_URL = `http://localhost:${PORT}` } = process.env
// for GitHub: { id: 'github', scopes: ['read:user'], profilePath: '/user' }
const PROVIDER = { id: 'sandbox', scopes: ['profile:read'], profilePath: '/api/profile' }
const COOKIE = 'web_app_session'

interface Session {
  readonly user: string
  /** The authorization that this user began last. */
  authorizationId?: string
}

const gatepass = new Gatepass()
const sessions = new Map<string, Session>() // a real application keeps them in its database, and lets them expire
const app = new Hono<{ Variables: { session: Session } }>()

app.use(csrf({ origin: APP_URL })) // refuses the forms of other sites

app.post('/login', async (c) => {
  const { user = '', path = '/' } = await c.req.parseBody()
  const id = randomUUID()
  sessions.set(id, { user: String(user) }) // a pretence: a real application checks a password here
  setCookie(c, COOKIE, id, { httpOnly: true, sameSite: 'Lax', secure: APP_URL.startsWith('https:') })
  const next = URL.parse(String(path), APP_URL)
  return c.redirect(next?.origin === APP_URL ? next.href : '/', 303)
})

app.use(async (c, next) => {
  c.header('cache-control', 'no-store')
  const session = sessions.get(getCookie(c, COOKIE) ?? '')
  if (session !== undefined) {
    c.set('session', session)
    return next()
  }
  const { pathname, search } = new URL(c.req.url)
  return c.html(loginPage(c.req.method === 'GET' ? pathname + search : '/'), 401)
})

app.get('/', async (c) => {
  const { user } = c.var.session
  return c.html(homePage(user, await findAccount(user)))
})

app.post('/connect', async (c) => {
  const { session } = c.var
  const { id, url } = await gatepass.as(session.user).connect(PROVIDER.id, {
    scopes: PROVIDER.scopes,
    nextUri: `${APP_URL}/connected`,
  })
  session.authorizationId = id
  return c.redirect(url ?? '/', 303) // no link: the user is already connected
})

// The user comes back with `auth_id`, `status` and `reason`. Anyone can write such an address: the session says which
// authorization is this user's, and Gatepass how it ended.
app.get('/connected', async (c) => {
  const { user, authorizationId } = c.var.session
  if (authorizationId === undefined || c.req.query('auth_id') !== authorizationId)
    return c.html(messagePage('Nothing to show', 'You have not begun this connection.'), 404)
  const authorization = await gatepass.authorization(authorizationId)
  return c.html(homePage(user, await findAccount(user), authorization))
})

app.post('/disconnect', async (c) => {
  const { connections } = gatepass.as(c.var.session.user)
  const own = await connections.list({ provider: PROVIDER.id }).toArray()
  await Promise.all(own.map(({ id }) => connections.delete(id)))
  return c.redirect('/', 303)
})

// GATEPASS_USER_VERIFIER: Gatepass sends the browser here before it redeems the approval. The session says who it is.
app.get('/verify', async (c) => {
  const flowId = c.req.query('flow_id') ?? ''
  const { nextUri } = await gatepass.as(c.var.session.user).confirmUser({ flowId })
  return c.redirect(nextUri, 303)
})

app.post('/logout', (c) => {
  sessions.delete(deleteCookie(c, COOKIE) ?? '')
  return c.redirect('/', 303)
})

app.onError((error, c) => {
  if (error instanceof HTTPException) return error.getResponse()
  if (Gatepass.isError(error, 'user_mismatch'))
    return c.html(
      messagePage('This link is for another user', 'If someone sent you the link, do not use it.'),
      403,
    )
  console.error(error)
  return c.html(messagePage('This did not work', 'Please try again in a minute.'), 502)
})

/** The account that the user has connected. Gatepass puts the user's token into the request to the provider's API. */
async function findAccount(user: string): Promise<Account | undefined> {
  const { connections, fetch } = gatepass.as(user)
  const own = await connections.list({ provider: PROVIDER.id }).toArray()
  const connection = own.find(({ status }) => status === 'active')
  if (connection === undefined) return undefined
  const { id, account } = connection
  try {
    const response = await fetch(PROVIDER.id, PROVIDER.profilePath, { account: id })
    const profile: Profile = response.ok ? await response.json() : {}
    return { name: account.name, profile }
  } catch (error) {
    if (Gatepass.isError(error, 'authorization_required')) return undefined // revoked at the provider
    if (Gatepass.isError(error, 'provider_unavailable')) return { name: account.name, profile: {} }
    throw error
  }
}

serve({ fetch: app.fetch, port: Number(PORT), hostname: 'localhost' }, () => console.log(`Open ${APP_URL}`))
