import {
  type FakeAuthorizationServer,
  type FakeAuthorizationServerOptions,
  startFakeAuthorizationServer,
} from '../fake-authorization-server.ts'
import { type FakeWorker, type FakeWorkerOptions, startFakeWorker } from '../fake-worker.ts'
import { type Gatepass, type GatepassOptions, startGatepass } from '../gatepass.ts'
import { type Page, UserAgent } from '../user-agent.ts'

/** A Gatepass with a provider `demo` and a worker `demo` whose toolkit is `Demo`. */
export interface World extends AsyncDisposable {
  readonly as: FakeAuthorizationServer
  readonly worker: FakeWorker
  readonly gatepass: Gatepass
  readonly call: Gatepass['call']
  /** Runs a tool as a caller does, or as Arcade's SDKs do. */
  execute(
    tool_name: string,
    more?: Record<string, unknown>,
    dialect?: 'plain' | 'arcade',
  ): ReturnType<Gatepass['call']>
  /** Lets the user approve `demo` with these scopes, and answers the token that Gatepass then holds. */
  connect(userId: string, scopes?: readonly string[]): Promise<string>
}

export interface WorldOptions {
  readonly as?: FakeAuthorizationServerOptions
  readonly worker?: Partial<FakeWorkerOptions>
  readonly gatepass?: GatepassOptions
  readonly timeoutSeconds?: number
}

export const WORKER_SECRET = 'worker-secret-of-the-tests'
/** Arcade's SDKs send it with every request. */
export const STAINLESS = { 'x-stainless-lang': 'js' }

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const as = await startFakeAuthorizationServer(options.as)
  const worker = await startFakeWorker({
    secret: WORKER_SECRET,
    requirement: { id: 'demo', scopes: ['read'] },
    ...options.worker,
  })
  const gatepass = await startGatepass(options.gatepass)
  const { call } = gatepass
  const http = { uri: worker.url, secret: WORKER_SECRET, timeout: options.timeoutSeconds ?? 60, retry: 0 }
  await expectStatus(201, call('POST', '/v1/admin/auth_providers', providerBody('demo', as)))
  await expectStatus(201, call('POST', '/v1/workers', { id: 'demo', http }))

  return {
    as,
    worker,
    gatepass,
    call,
    execute: (tool_name, more = {}, dialect = 'plain') =>
      call(
        'POST',
        '/v1/tools/execute',
        { tool_name, ...more },
        dialect === 'arcade' ? { headers: STAINLESS } : {},
      ),
    async connect(userId, scopes = ['read']) {
      const need = {
        auth_requirement: { id: 'demo', provider_type: 'oauth2', oauth2: { scopes } },
        user_id: userId,
      }
      const { body } = await call('POST', '/v1/auth/authorize', need)
      await approve(body.url)
      return (await call('POST', '/v1/auth/authorize', need)).body.context.token
    },
    async [Symbol.asyncDispose]() {
      await gatepass.close()
      await worker.close()
      await as.close()
    },
  }
}

/** Opens a connect link and clicks through it, with all its steps. */
export async function approve(url: string, browser = new UserAgent()): Promise<Page> {
  let page = await browser.get(url)
  for (let step = 0; step < 5 && page.body.includes('action="/connect/'); step++)
    page = await browser.submitForm(page)
  return page
}

/** A provider in Arcade's shape at a fake authorization server. */
export function providerBody(id: string, as: FakeAuthorizationServer) {
  const client = { client_id: '{{client_id}}', client_secret: '{{client_secret}}' }
  return {
    id,
    description: `The provider ${id}`,
    type: 'oauth2',
    oauth2: {
      client_id: as.clientId,
      client_secret: as.clientSecret,
      pkce: { enabled: true, code_challenge_method: 'S256' },
      authorize_request: {
        endpoint: as.authorizationUrl,
        params: {
          response_type: 'code',
          client_id: '{{client_id}}',
          redirect_uri: '{{redirect_uri}}',
          scope: '{{scopes}} {{existing_scopes}}',
        },
      },
      token_request: {
        endpoint: as.tokenUrl,
        params: { grant_type: 'authorization_code', redirect_uri: '{{redirect_uri}}', ...client },
      },
      refresh_request: {
        endpoint: as.tokenUrl,
        params: { grant_type: 'refresh_token', refresh_token: '{{refresh_token}}', ...client },
      },
      user_info_request: {
        endpoint: as.userInfoUrl,
        auth_method: 'bearer_access_token',
        triggers: { on_token_grant: true, on_token_refresh: false },
      },
    },
  } as const
}

/** An `oauth` entry of tool metadata at a fake authorization server. */
export function oauthEntry(name: string, as: FakeAuthorizationServer, more: Record<string, unknown> = {}) {
  return {
    name,
    version: '2.0',
    authorizationUrl: as.authorizationUrl,
    tokenUrl: as.tokenUrl,
    clientId: as.clientId,
    clientSecret: as.clientSecret,
    scopes: ['read'],
    responseType: 'code',
    pkceType: 'S256',
    ...more,
  }
}

/** A tool's metadata. */
export function metadata(name: string, more: Record<string, unknown> = {}) {
  return {
    name,
    version: '1.0.0',
    description: `Does ${name}.`,
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: [] },
    ...more,
  }
}

async function expectStatus(status: number, answer: ReturnType<Gatepass['call']>): Promise<void> {
  const { status: actual, body } = await answer
  if (actual !== status) throw new Error(`${actual} instead of ${status}: ${JSON.stringify(body)}`)
}
