// A web application with a Connect button in its own page, a link to the user's own page at Gatepass, and a receiver of
// webhooks. It holds no token of a provider.
//   GATEPASS_URL=http://localhost:8400 GATEPASS_API_KEY=... WEBHOOK_SECRET=whsec_... node examples/embedded-app/server.ts
import { randomUUID } from 'node:crypto'
import { Gatepass } from '@gatepass/sdk'
import { verifyWebhook, WebhookRefused } from '@gatepass/sdk/webhooks'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { HTTPException } from 'hono/http-exception'
import { loginPage, messagePage } from '../sample-pages.ts'
import { homePage, SCRIPT } from './pages.ts'

const { PORT = '3000', APP_URL = `http://localhost:${PORT}`, WEBHOOK_SECRET = '' } = process.env
// for GitHub: { provider: 'github', scopes: ['read:user'] }
const NEED = { provider: 'sandbox', scopes: ['profile:read'] }
const COOKIE = 'embedded_app_session'

const gatepass = new Gatepass()
const sessions = new Map<string, string>() // id to user; a real application keeps them in its database
const news = new Map<string, string[]>() // the types of the webhook events about each user
const seen = new Set<string>() // ids of events; a real application keeps them as long as events may be repeated

const app = new Hono<{ Variables: { user: string } }>()

// Signed by Gatepass: no session, and no cookie. The same event may come twice, with the same id.
app.post('/webhooks', async (c) => {
  try {
    const event = await verifyWebhook(c.req.raw, WEBHOOK_SECRET)
    if (!seen.has(event.id) && 'userId' in event.data) {
      const { userId } = event.data
      news.set(userId, [...(news.get(userId) ?? []), event.type])
    }
    seen.add(event.id)
    return c.body(null, 204)
  } catch (error) {
    if (error instanceof WebhookRefused) return c.text(error.reason, 400)
    throw error
  }
})

app.use(csrf({ origin: APP_URL })) // refuses the forms of other sites

app.use(async (c, next) => {
  // the embedded script needs Gatepass in three directives
  const { baseUrl } = gatepass
  c.header(
    'content-security-policy',
    `default-src 'none'; script-src 'self' ${baseUrl}; connect-src 'self' ${baseUrl}; form-action 'self' ${baseUrl}; style-src 'unsafe-inline'`,
  )
  c.header('cache-control', 'no-store')
  return next()
})

app.get('/app.js', (c) => c.body(SCRIPT, 200, { 'content-type': 'text/javascript' }))

app.post('/login', async (c) => {
  const { user = '', path = '/' } = await c.req.parseBody()
  const id = randomUUID()
  sessions.set(id, String(user)) // a pretence: a real application checks a password here
  setCookie(c, COOKIE, id, { httpOnly: true, sameSite: 'Lax', secure: APP_URL.startsWith('https:') })
  const next = URL.parse(String(path), APP_URL)
  return c.redirect(next?.origin === APP_URL ? next.href : '/', 303)
})

app.use(async (c, next) => {
  const user = sessions.get(getCookie(c, COOKIE) ?? '')
  if (user !== undefined) {
    c.set('user', user)
    return next()
  }
  const { pathname, search } = new URL(c.req.url)
  return c.req.method === 'GET' ? c.html(loginPage(pathname + search)) : c.html(loginPage('/'), 401)
})

app.get('/', async (c) => {
  const { user } = c.var
  const connections = await gatepass.as(user).connections.list({ provider: NEED.provider }).toArray()
  const active = connections.find(({ status }) => status === 'active')
  return c.html(
    homePage({ user, account: active?.account.name, gatepassUrl: gatepass.baseUrl, news: news.get(user) }),
  )
})

// What `<gatepass-connect>` asks for. The user is that of the session, never one that the request names.
app.post('/api/connect-session', async (c) => {
  const options = { ...NEED, allowedOrigin: APP_URL, nextUri: APP_URL, userDisplay: c.var.user }
  return c.json(await gatepass.as(c.var.user).connectSessions.create(options))
})

app.post('/manage', async (c) => {
  const { url } = await gatepass.as(c.var.user).portal({ returnUrl: APP_URL, userDisplay: c.var.user })
  return c.redirect(url, 303)
})

app.post('/logout', (c) => {
  sessions.delete(deleteCookie(c, COOKIE) ?? '')
  return c.redirect('/', 303)
})

// GATEPASS_USER_VERIFIER: Gatepass sends the browser here before it redeems the approval. The session says who it is.
app.get('/verify', async (c) => {
  const { nextUri } = await gatepass.as(c.var.user).confirmUser({ flowId: c.req.query('flow_id') ?? '' })
  return c.redirect(nextUri, 303)
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

serve({ fetch: app.fetch, port: Number(PORT), hostname: 'localhost' }, () => console.log(`Open ${APP_URL}`))
