import { Hono } from 'hono'
import type { Clock } from '../domain/clock.ts'
import { sandboxApi } from './api.ts'
import { authorizationEndpoint } from './authorization-endpoint.ts'
import { sandboxClientSecret } from './client.ts'
import { SCOPES } from './scopes.ts'
import { tokenEndpoint } from './token-endpoint.ts'
import { sandboxTokens } from './tokens.ts'
import { sandboxWorker } from './worker.ts'

// A pretend provider for `gatepass dev`, so that the whole main job can be seen with nothing else installed: an
// authorization server with a consent page, an API behind its tokens, and a tool worker that calls the API. Nobody
// logs in here; it must never be mounted by `gatepass serve`. It keeps nothing but what was spent or revoked, in
// memory. It knows nothing of the broker, which speaks to it as to any other provider and worker.

export interface SandboxOptions {
  /** The origin that the sandbox is served at, under /sandbox. */
  readonly publicUrl: URL
  /** 32 bytes. Client secret and signing keys are derived from it, so a restart with the same key loses nothing. */
  readonly key: Buffer
  readonly now: Clock
  /** Shared with the broker, which signs its calls to the worker with it. */
  readonly workerSecret: string
}

/** Routes relative to the mount point /sandbox. */
export function createSandbox({ publicUrl, key, now, workerSecret }: SandboxOptions): Hono {
  const issuer = new URL('sandbox', publicUrl).href
  const tokens = sandboxTokens({ issuer, key, now })
  const api = sandboxApi(tokens)
  return new Hono()
    .get('/.well-known/oauth-authorization-server', (c) => c.json(serverMetadata(issuer)))
    .route('/', authorizationEndpoint({ issuer, tokens, callbacks: new URL('callback/', publicUrl) }))
    .route('/', tokenEndpoint({ tokens, clientSecret: sandboxClientSecret(key) }))
    .route('/', api)
    .route('/worker', sandboxWorker({ secret: workerSecret, now, api }))
}

/** RFC 8414 section 2. */
function serverMetadata(issuer: string): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    userinfo_endpoint: `${issuer}/userinfo`,
    scopes_supported: Object.keys(SCOPES),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }
}
