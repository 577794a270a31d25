import { createHash } from 'node:crypto'
import { SANDBOX_CLIENT_ID, sandboxClientSecret } from '../../src/dev-provider/client.ts'
import { createSandbox } from '../../src/dev-provider/dev-provider.ts'

export const PUBLIC_URL = new URL('http://localhost:8400/')
export const REDIRECT_URI = 'http://localhost:8400/callback/prov_1'
export const VERIFIER = 'verifier-verifier-verifier-verifier-verifier'
export const WORKER_SECRET = 'worker-secret-worker-secret-1234'
export const CLIENT = {
  client_id: SANDBOX_CLIENT_ID,
  client_secret: sandboxClientSecret(Buffer.alloc(32, 7)),
} as const

export type Tokens = { access_token: string; refresh_token: string; expires_in: number; scope: string }

type Parameters = Record<string, string | undefined>

/** A sandbox and the steps of its authorization code flow; tests may move `clock.now`. */
export function sandbox() {
  const clock = { now: 1_000_000 }
  const open = () =>
    createSandbox({
      publicUrl: PUBLIC_URL,
      key: Buffer.alloc(32, 7),
      now: () => clock.now,
      workerSecret: WORKER_SECRET,
    })
  const state = { app: open() }

  const post = (path: string, body: Parameters | string, headers: Record<string, string> = {}) =>
    state.app.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: typeof body === 'string' ? body : form(body),
    })

  /** Posts the consent form and returns the authorization response. */
  async function decide(body: Parameters | string = { decision: 'allow' }, request: Parameters = {}) {
    const response = await post(authorizeUrl(request), body)
    const to = new URL(response.headers.get('location') ?? 'about:blank')
    return { status: response.status, to, query: Object.fromEntries(to.searchParams) }
  }

  const redeem = (code: string | undefined, changes: Parameters = {}) =>
    post('/token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
      ...CLIENT,
      ...changes,
    })

  const refresh = (refresh_token: string, changes: Parameters = {}) =>
    post('/token', { grant_type: 'refresh_token', refresh_token, ...CLIENT, ...changes })

  async function approved(request: Parameters = {}): Promise<Tokens> {
    const { query } = await decide({ decision: 'allow' }, request)
    return tokensOf(await redeem(query.code))
  }

  const api = (path: string, token?: string) =>
    state.app.request(path, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })

  /** A restarted sandbox: the same key and an empty memory. */
  const restart = () => {
    state.app = open()
  }

  return { clock, state, post, decide, redeem, refresh, approved, api, restart }
}

/** A valid authorization request with changes; `undefined` removes a parameter. */
export function authorizeUrl(changes: Parameters = {}): string {
  return `/authorize?${form({
    response_type: 'code',
    client_id: SANDBOX_CLIENT_ID,
    redirect_uri: REDIRECT_URI,
    scope: 'profile:read',
    state: 's1',
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    ...changes,
  })}`
}

/** Typed for the sandbox's own token endpoint, whose answers the tests check. */
export async function tokensOf(response: Response): Promise<Tokens> {
  return (await response.json()) as Tokens
}

function form(parameters: Parameters): string {
  const present = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  return new URLSearchParams(present).toString()
}
