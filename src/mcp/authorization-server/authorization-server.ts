import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Provider } from 'oidc-provider'
import type { Broker } from '../../broker.ts'
import { createVerifyAccessToken, type VerifyAccessToken } from './access-token.ts'
import { addConsent } from './consent.ts'
import { addEndpoints } from './endpoints.ts'
import { createProvider } from './oidc-provider.ts'
import type { AuthorizationServerParts } from './parts.ts'
import { createSigningKeys } from './signing-keys.ts'
import { addUsersClients } from './users-clients.ts'

// Gatepass as its own authorization server (OAuth 2.1) for MCP clients, for `/mcp` alone. Users log in by
// GATEPASS_USER_VERIFIER, as they do to connect accounts, so the same person approves a client and connects an account.
// oidc-provider implements the protocol: authorization and token requests, registrations, client authentication.
// Its records are stored in `mcp_records` and `mcp_consents`, so that every node can serve every request. Tokens are
// verified in access-token.ts. The metadata of the protected resource is in ../callers/resource-metadata.ts.

export interface AuthorizationServer {
  /** The `iss` of its tokens. */
  readonly issuer: string
  readonly verify: VerifyAccessToken
  mount(app: OpenAPIHono): void
}

export interface AuthorizationServerOptions {
  /** The project whose tools the clients call. */
  readonly projectId: string
}

/** How long a registered client is kept after its last access token: as long as an unused approval. */
const CLIENT_SECONDS = 90 * 24 * 3600

export function createAuthorizationServer(
  broker: Broker,
  { projectId }: AuthorizationServerOptions,
): AuthorizationServer {
  const { store, now, audit } = broker
  const keys = createSigningKeys(broker)
  let cached: { readonly keys: object; readonly provider: Promise<Provider> } | undefined

  async function provider(): Promise<Provider> {
    const current = await keys.current()
    if (cached?.keys === current) return cached.provider
    const made = createProvider(broker, {
      keys: current,
      async onTokens({ clientId, grantId }) {
        await store.mcpConsents.used(grantId, now())
        await store.mcpRecords.approve(clientId, now() + CLIENT_SECONDS, now())
      },
      async endGrant(grantId, reason) {
        const consent = await store.mcpConsents.findByGrant(grantId)
        const event = consent && {
          action: 'mcp_client.revoked' as const,
          userId: consent.userId,
          subject: consent.clientId,
          reason,
        }
        await store.mcpConsents.endGrant(grantId, event && audit.of(consent.projectId, event))
      },
    })
    cached = { keys: current, provider: made }
    made.catch(() => {
      cached = undefined
    })
    return made
  }

  const parts: AuthorizationServerParts = { projectId, provider }
  return {
    issuer: broker.settings.publicUrl.origin,
    verify: createVerifyAccessToken(broker, { keys, projectId }),
    mount(app) {
      addEndpoints(app, broker, { ...parts, keys })
      addConsent(app, broker, parts)
      addUsersClients(app, broker, parts)
    },
  }
}
