import type { Client, Grant, Interaction, Provider } from 'oidc-provider'
import type { Broker } from '../../broker.ts'
import { newId } from '../../domain/ids.ts'
import { isMetadataDocument } from '../../domain/mcp-client-identity.ts'
import type { McpConsent } from '../../domain/mcp-consent.ts'
import { hasAccess } from '../../flows/mcp-clients.ts'
import { verifierName } from '../../flows/user-session.ts'
import { withoutLoopbackPort } from './client-metadata.ts'

// An approval is stored for one user, one client and one redirect URI (`mcp_consents`). Tokens get their
// scopes from the grant of oidc-provider, a sealed record. So a row of `mcp_consents` without a grant permits nothing.

/** The most approvals of one user: anyone can publish any number of client metadata documents. */
const MAX_APPROVALS = 200

/** An authorization request that waits for its user. */
export interface AskedConsent {
  readonly client: Client
  readonly redirectUri: string
  /** The resource that the client named. */
  readonly resource: string
  readonly scopes: readonly string[]
  readonly userId: string
  readonly projectId: string
}

/** Remembers what users have approved. */
export interface Approval {
  /**
   * Returns an earlier grant that covers the request, so that the user is not asked: for the same user, client,
   * redirect URI and resource, and with all requested scopes.
   */
  remembered(asked: AskedConsent, interaction: Interaction): Promise<Grant | undefined>
  /** Whether the user has reached the limit of approvals, and this request would add one. */
  isFull(asked: AskedConsent): Promise<boolean>
  /** Stores the user's approval. Returns the grant that the client's tokens belong to. */
  approve(asked: AskedConsent): Promise<Grant>
}

export function createApproval(broker: Broker, provider: () => Promise<Provider>): Approval {
  const { store, now, audit } = broker

  async function existing(asked: AskedConsent) {
    const consent = await store.mcpConsents.find(identityOf(asked))
    const grant =
      consent?.grantId === undefined ? undefined : await (await provider()).Grant.find(consent.grantId)
    const isTheirs = grant?.accountId === asked.userId && grant.clientId === asked.client.clientId
    return { consent, grant: isTheirs ? grant : undefined }
  }

  return {
    async remembered(asked, { params }) {
      if (!canBeRemembered(asked) || String(params.prompt ?? '').includes('consent')) return undefined
      const { grant } = await existing(asked)
      const granted = grant?.getResourceScope(asked.resource).split(' ') ?? []
      return asked.scopes.every((scope) => granted.includes(scope)) ? grant : undefined
    },

    async isFull(asked) {
      const { consent } = await existing(asked)
      const { projectId, userId } = asked
      return (
        consent === undefined && (await store.mcpConsents.ofUser(projectId, userId)).length >= MAX_APPROVALS
      )
    },

    async approve(asked) {
      const { client, userId, projectId, scopes } = asked
      const { clientId } = client
      const { consent, grant: former } = await existing(asked)
      const grant = former ?? new (await provider()).Grant({ accountId: userId, clientId })
      grant.exp = undefined // the grant lasts its whole lifetime from this approval on
      grant.addResourceScope(asked.resource, [...scopes])
      const grantId = await grant.save()
      // its refresh tokens must stay invalid
      if (former === undefined && consent?.grantId !== undefined)
        await store.mcpConsents.endGrant(consent.grantId)
      const kept = former === undefined ? [] : (consent?.scopes ?? [])
      await store.mcpConsents.put(
        {
          ...identityOf(asked),
          id: consent?.id ?? newId('mcpc'),
          clientName: client.clientName ?? clientId,
          scopes: [...new Set([...kept, ...scopes])],
          grantId,
          verifier: verifierName(broker.settings.verifier),
          createdAt: now(),
        },
        audit.of(projectId, { action: 'mcp_client.approved', userId, subject: clientId, scopes }),
      )
      return grant
    },
  }
}

/** Whether the user has allowed the client at this redirect URI, so that the client may have the browser sent there. */
export async function hasAllowed(
  broker: Pick<Broker, 'store' | 'settings'>,
  consent: Pick<McpConsent, 'projectId' | 'userId' | 'clientId' | 'redirectUri'>,
): Promise<boolean> {
  const redirectUri = withoutLoopbackPort(consent.redirectUri) ?? consent.redirectUri
  return hasAccess(broker, await broker.store.mcpConsents.find({ ...consent, redirectUri }))
}

function identityOf({ projectId, userId, client, redirectUri }: AskedConsent) {
  return {
    projectId,
    userId,
    clientId: client.clientId,
    redirectUri: withoutLoopbackPort(redirectUri) ?? redirectUri,
  }
}

/**
 * Whether an earlier approval may count for this request. The client id of a metadata document is public, and any
 * program of the user's machine can receive a redirect to `http` or a private scheme. With both, any program could be
 * the client, so the user is always asked (RFC 8252 section 8.6).
 */
function canBeRemembered({ client, redirectUri }: AskedConsent): boolean {
  return new URL(redirectUri).protocol === 'https:' || !isMetadataDocument(client.clientId)
}
