// better-auth as its documentation sets it up for a node server: SQLite, tokens encrypted, a generic provider. Seeded
// with users who each have a session and an account; the parent gets the sessions that the load process uses.
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { betterAuth } from 'better-auth'
import { symmetricEncrypt } from 'better-auth/crypto'
import { getMigrations } from 'better-auth/db/migration'
import { toNodeHandler } from 'better-auth/node'
import { genericOAuth } from 'better-auth/plugins'
import Database from 'better-sqlite3'

const { port, path, upstreamPort, users, expiredUsers } = JSON.parse(process.argv[2])
const SECRET = 'bench-secret-of-thirty-two-characters'
const DAY_MS = 24 * 3600 * 1000

const database = new Database(path)
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')

const auth = betterAuth({
  baseURL: `http://127.0.0.1:${port}`,
  secret: SECRET,
  database,
  account: { encryptOAuthTokens: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { disabled: true },
  plugins: [
    genericOAuth({
      config: [
        {
          providerId: 'bench',
          clientId: 'bench-client',
          clientSecret: 'bench-secret',
          authorizationUrl: `http://127.0.0.1:${upstreamPort}/authorize`,
          tokenUrl: `http://127.0.0.1:${upstreamPort}/token`,
        },
      ],
    }),
  ],
})
const { runMigrations } = await getMigrations(auth.options)
await runMigrations()
const context = await auth.$context

function insert(table, row) {
  const names = Object.keys(row)
  const columns = names.map((name) => `"${name}"`).join()
  database
    .prepare(`insert into "${table}" (${columns}) values (${names.map(() => '?')})`)
    .run(...Object.values(row))
}

async function tokensOf(userId) {
  const encrypt = (data) => symmetricEncrypt({ key: context.secretConfig, data })
  const [accessToken, refreshToken] = [`gho_${userId.padEnd(496, 'x')}`, `ghr_${userId.padEnd(196, 'y')}`]
  return { accessToken: await encrypt(accessToken), refreshToken: await encrypt(refreshToken) }
}

async function rowsOf(userId, isExpired) {
  const at = new Date().toISOString()
  const later = (ms) => new Date(Date.now() + ms).toISOString()
  const dates = { createdAt: at, updatedAt: at }
  return {
    user: { id: userId, name: userId, email: `${userId}@example.com`, emailVerified: 1, ...dates },
    session: {
      id: `s-${userId}`,
      token: `session-${userId}`,
      userId,
      expiresAt: later(7 * DAY_MS),
      ...dates,
    },
    account: {
      id: `a-${userId}`,
      accountId: userId,
      providerId: 'bench',
      userId,
      ...(await tokensOf(userId)),
      accessTokenExpiresAt: later(isExpired ? -DAY_MS : DAY_MS),
      scope: 'read:user,repo',
      ...dates,
    },
  }
}

const all = [
  ...Array.from({ length: users }, (_, i) => [`user-${i}`, false]),
  ...Array.from({ length: expiredUsers }, (_, i) => [`expired-${i}`, true]),
]
database.exec('begin')
for (const [userId, isExpired] of all)
  for (const [table, row] of Object.entries(await rowsOf(userId, isExpired))) insert(table, row)
database.exec('commit')

/** The cookie of that user's session, signed as better-auth signs it, and the user's account. */
function sessionOf(userId) {
  const value = `session-${userId}`
  const signature = createHmac('sha256', SECRET).update(value).digest('base64')
  const cookie = `${context.authCookies.sessionToken.name}=${encodeURIComponent(`${value}.${signature}`)}`
  return { cookie, accountId: `a-${userId}` }
}

const handle = toNodeHandler(auth)
createServer((request, response) => {
  if (request.url === '/health') response.writeHead(200, { 'content-length': '2' }).end('ok')
  else void handle(request, response)
}).listen(port, '127.0.0.1', () => process.send?.({ sessions: all.map(([userId]) => sessionOf(userId)) }))
process.on('disconnect', () => process.exit())
