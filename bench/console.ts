import { startPostgres } from '../test/postgres-cluster.ts'
import { adminOf } from './admin.ts'
import type { Bench } from './bench.ts'
import { type ConsoleRows, OWN_CONNECTIONS, OWN_USER, rowsIn, seedConsole } from './console-seed.ts'
import { type Gatepass, startGatepass } from './gatepass.ts'
import { API_KEY, userName } from './people.ts'
import { copyToPostgres } from './postgres.ts'
import { cpuMsOf } from './process.ts'
import { type Figure, quantile, whole } from './report.ts'
import { databaseIn } from './seed.ts'

const MOST_PAGE_MS = 200
const REQUESTS = 20

/** Where pages are measured. */
interface Measured {
  readonly name: string
  readonly gatepass: Gatepass
  /** The processor time that the server and its database have used. */
  cpuMs(): number
}

/** Every page of the console, and users' own, with many connections and five times the audit entries. */
export async function consolePages(bench: Bench): Promise<Figure[]> {
  const folder = await seedConsole(bench, 'million-console')
  return await pagesOnSqlite(folder)
}

export async function consolePagesPostgres(bench: Bench): Promise<Figure[]> {
  const folder = await seedConsole(bench, 'million-console-postgres')
  return await pagesOnPostgres(folder)
}

export async function pagesOnSqlite(folder: string): Promise<Figure[]> {
  await using gatepass = await startGatepass(folder)
  // awaited here: the server is stopped when this function returns
  return await pagesOf({ name: 'SQLite', gatepass, cpuMs: () => gatepass.cpuMs() }, rowsIn(folder))
}

export async function pagesOnPostgres(folder: string): Promise<Figure[]> {
  await using postgres = await startPostgres({ durable: true })
  const url = await copyToPostgres(postgres, databaseIn(folder))
  await using gatepass = await startGatepass(folder, { database: url })
  const database = await postgres.processId()
  const cpuMs = () => gatepass.cpuMs() + cpuMsOf(database)
  return await pagesOf({ name: 'PostgreSQL', gatepass, cpuMs }, rowsIn(folder))
}

/** By their paths below `/dashboard`. */
function consolePaths({ connection, run, delivery, key, webhook, entry }: ConsoleRows): readonly string[] {
  const user = encodeURIComponent(userName(4_711))
  const today = new Date().toISOString().slice(0, 10)
  const tool = encodeURIComponent('many:Tool7:1.0.0')
  return [
    '',
    '?span=7d',
    '?span=30d',
    '/connections',
    `/connections?before=${connection}`,
    `/connections?after=${connection}`,
    `/connections?user=${user}`,
    '/connections?provider=bench&status=needs_authorization',
    '/connections?status=needs_authorization',
    `/connections?date=${today}`,
    `/live/connections?after=${connection}`,
    `/connections/${connection}`,
    '/users',
    '/users?user=someone-who-is-not-there',
    `/users/details?id=${user}`,
    `/users/details?id=${encodeURIComponent(OWN_USER)}`,
    '/authorizations',
    '/authorizations?status=failed',
    `/authorizations?user=${user}`,
    `/live/authorizations?after=auth_${connection.slice(5)}`,
    `/authorizations/auth_${connection.slice(5)}`,
    '/providers',
    '/providers/bench',
    '/catalogue',
    '/catalogue?search=g',
    '/catalogue/zendesk',
    '/tools',
    '/tools?q=tool9',
    `/tools/${tool}?user=${user}`,
    `/tools/${tool}/try`,
    '/runs',
    `/runs?before=${run}`,
    `/runs?after=${run}`,
    '/runs?status=failed',
    '/runs?status=running',
    `/runs?tool=${tool}`,
    `/runs?tool=${tool}&status=failed`,
    `/runs?user=${user}`,
    `/runs?user=${user}&status=failed`,
    `/runs?date=${today}`,
    `/runs/${run}`,
    '/scheduled',
    '/scheduled?status=cancelled',
    '/chains',
    '/workers',
    '/workers/down-0',
    '/policies',
    '/policies/p0',
    '/policy/new',
    '/policy/dry-run',
    '/keys',
    `/keys?before=${key}`,
    `/keys?after=${key}`,
    `/keys/${key}`,
    '/secrets',
    '/projects',
    '/webhooks',
    `/webhooks/${webhook}`,
    `/webhooks/${webhook}?before=${delivery}`,
    `/webhooks/${webhook}?after=${delivery}`,
    `/webhooks/${webhook}?state=failed`,
    `/webhooks/${webhook}?state=waiting`,
    `/webhooks/${webhook}?state=delivered`,
    '/audit',
    `/audit?before=${entry}`,
    '/audit?action=connection.refreshed',
    `/audit?user=${user}`,
    `/audit?user=${user}&action=connection.deleted`,
    '/audit?provider=bench&action=connection.refreshed',
    '/audit?provider=bench&tool=no-such-tool',
    '/audit?tool=no-such-tool',
    `/audit?until=${today}`,
    '/audit?until=2020-01-01',
    '/audit?since=2099-01-01',
    `/audit/${entry}`,
    '/settings',
    '/doctor',
  ]
}

/** Pages that are the answers to forms. */
const FORMS = ['/audit/verify', '/doctor', '/policy/dry-run']

const OWN_PATHS = ['', '/data']

export async function pagesOf(measured: Measured, rows: ConsoleRows): Promise<Figure[]> {
  const { port } = measured.gatepass
  const cookie = await logIn(port)
  const figures: Figure[] = []
  for (const path of consolePaths(rows))
    figures.push(await timesOf(measured, `/dashboard${path}`, { headers: { cookie } }))
  const overview = await fetch(`http://127.0.0.1:${port}/dashboard/audit`, { headers: { cookie } })
  const csrf = /name="csrf" value="([\w-]+)"/.exec(await overview.text())?.[1] ?? ''
  const headers = {
    cookie,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/x-www-form-urlencoded',
  }
  const body = `csrf=${csrf}`
  for (const path of FORMS)
    figures.push(await timesOf(measured, `/dashboard${path}`, { method: 'POST', headers, body }))
  const own = await enterOwnPage(port)
  for (const path of OWN_PATHS)
    figures.push(
      await timesOf(
        measured,
        `/me${path}`,
        { headers: { cookie: own } },
        `of a user with ${OWN_CONNECTIONS} connections`,
      ),
    )
  return figures
}

async function timesOf(
  { name, gatepass, cpuMs }: Measured,
  path: string,
  request: RequestInit,
  more = '',
): Promise<Figure> {
  const times: number[] = []
  const cpuBefore = cpuMs()
  for (let i = 0; i < REQUESTS; i++) {
    const begun = performance.now()
    const response = await fetch(`http://127.0.0.1:${gatepass.port}${path}`, request)
    const body = await response.text()
    times.push(performance.now() - begun)
    if (response.status !== 200 || !(body.includes('<main') || path.includes('/live/')))
      throw new Error(`${path}: ${response.status} ${body.slice(0, 300)}`)
  }
  const cpu = (cpuMs() - cpuBefore) / REQUESTS
  const p50 = quantile(times, 0.5)
  // other programs of the machine add to the time, and not to the processor time of the server and its database
  const judged = Math.min(p50, cpu)
  return {
    name: `${name}, ${decodeURIComponent(path)}${more && ` ${more}`}`,
    value: [times[0] ?? 0, p50, Math.max(...times), cpu].map((ms) => `${whole(ms)} ms`).join(', '),
    target: `< ${MOST_PAGE_MS} ms`,
    met: judged < MOST_PAGE_MS,
  }
}

async function logIn(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/dashboard/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ key: API_KEY }),
  })
  return cookieOf(response)
}

/** Opens the user's own page by a caller's one-time link. */
async function enterOwnPage(port: number): Promise<string> {
  const made = await adminOf(port)('POST', `/v1/users/${encodeURIComponent(OWN_USER)}/portal`, {})
  const { url } = made as { readonly url: string } // the API's answer
  const ticket = new URL(url).searchParams.get('ticket') ?? ''
  const response = await fetch(`http://127.0.0.1:${port}/me/enter`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ ticket }),
  })
  return cookieOf(response)
}

function cookieOf(response: Response): string {
  const [cookie = ''] = (response.headers.getSetCookie()[0] ?? '').split(';')
  if (response.status !== 303 || cookie === '') throw new Error(`no login: ${response.status}`)
  return cookie
}
