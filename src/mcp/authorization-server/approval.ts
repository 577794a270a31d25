import type { Client, Grant, Interaction, Provider } from 'oidc-provider'
import type { Broker } from '../../broker.ts'
import { newId } from '../../domain/ids.ts'
import { isMetadataDocument } from '../../http/mcp-setup/client-identity.ts'
import { withoutLoopbackPort } from './client-metadata.ts'

// An approval is kept for one user, one client and one redirect URI (`mcp_consents`). What it allows is in the grant,
// whose record is sealed: a row of `mcp_consents` without it allows nothing.

/** Of one user, each with each of its redirect URIs. Anyone can publish any number of metadata documents. */
const MAX_CLIENTS = 200

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
  /** The grant by which the request needs no click: the same user, client and redirect URI, and no further scope or resource. */
  remembered(asked: AskedConsent, interaction: Interaction): Promise<Grant | undefined>
  /** Whether the user has approved as many clients as one may, and not this one. */
  isFull(asked: AskedConsent): Promise<boolean>
  /** Keeps the user's approval; returns the grant that the client's tokens belong to. */
  approve(asked: AskedConsent): Promise<Grant>
}

export function createApproval(broker: Broker, provider: () => Promise<Provider>): Approval {
  const { store, now, audit } = broker

  async function existing(asked: AskedConsent) {
    const consent = await store.mcpConsents.find(identityOf(asked))
    const grant =
      consent?.grantId === undefined ? undefined : await (await provider()).Grant.find(consent.grantId)
    const isSame = grant?.accountId === asked.userId && grant.clientId === asked.client.clientId
    return { consent, grant: isSame ? grant : undefined }
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
        consent === undefined && (await store.mcpConsents.ofUser(projectId, userId)).length >= MAX_CLIENTS
      )
    },

    async approve(asked) {
      const { client, userId, projectId, scopes } = asked
      const { clientId } = client
      const { consent, grant: former } = await existing(asked)
      const grant = former ?? new (await provider()).Grant({ accountId: userId, clientId })
      grant.addResourceScope(asked.resource, [...scopes])
      const grantId = await grant.save()
      const kept = former === undefined ? [] : (consent?.scopes ?? [])
      await store.mcpConsents.put(
        {
          ...identityOf(asked),
          id: consent?.id ?? newId('mcpc'),
          clientName: client.clientName ?? clientId,
          scopes: [...new Set([...kept, ...scopes])],
          grantId,
          createdAt: now(),
        },
        audit.of(projectId, { action: 'mcp_client.approved', userId, subject: clientId, scopes }),
      )
      return grant
    },
  }
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
 * Whether a former approval may spare the click. A client with a public id and a redirect URI that any program of the
 * user's machine can receive could be any program (RFC 8252 section 8.6), so its user is always asked.
 */
function canBeRemembered({ client, redirectUri }: AskedConsent): boolean {
  return new URL(redirectUri).protocol === 'https:' || !isMetadataDocument(client.clientId)
}
