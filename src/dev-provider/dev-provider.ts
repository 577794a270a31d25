import { Hono } from 'hono'
import type { Clock } from '../domain/clock.ts'
import { sandboxApi } from './api.ts'
import { authorizationEndpoint } from './authorization-endpoint.ts'
import { sandboxClientSecret } from './client.ts'
import { SCOPES } from './scopes.ts'
import { tokenEndpoint } from './token-endpoint.ts'
import { sandboxTokens } from './tokens.ts'
import { sandboxWorker } from './worker.ts'

// The sandbox: a pretend provider for `gatepass dev`, which lets a newcomer try the whole flow without registering
// anything. It has an authorization server with a consent page, an API that accepts its tokens, and a tool worker
// that calls the API. Users do not log in, so `gatepass serve` must never mount it. It keeps only spent and revoked
// tokens, in memory. Its routes do not use the broker, and the broker treats it like any other provider and worker.

export interface SandboxOptions {
  /** The origin that serves the sandbox, under /sandbox. */
  readonly publicUrl: URL
  /** 32 bytes. Client secret and signing keys are derived from it, so tokens survive a restart with the same key. */
  readonly key: Buffer
  readonly now: Clock
  /** Shared with the broker, which signs its calls to the worker with it. */
  readonly workerSecret: string
}

/** Builds the routes, relative to the mount point /sandbox. */
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

/** Authorization server metadata (RFC 8414 section 2). */
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
