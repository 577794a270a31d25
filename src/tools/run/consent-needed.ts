import type { Broker } from '../../broker.ts'
import { type Authorization, currentStep, scopesOf } from '../../domain/authorization.ts'
import { connectUrl } from '../../flows/acquire-tokens.ts'
import { findProviderByUid } from '../../flows/find-provider.ts'
import type { Execution } from './execute-response.ts'

/** A run that waits for its user. */
export type ConsentNeeded = Extract<Execution['outcome'], { readonly authorization: unknown }>

/** The link that the user must follow first, whichever way the token was wanted. */
export async function consentNeeded(broker: Broker, authorization: Authorization): Promise<ConsentNeeded> {
  const { id, projectId, userId } = authorization
  const entry = await findProviderByUid(broker, projectId, currentStep(authorization).providerUid)
  return {
    outcome: 'requires_authorization',
    authorization: {
      id,
      url: connectUrl(broker, authorization),
      scopes: scopesOf(authorization),
      status: 'pending',
      userId,
      ...(entry !== undefined && { providerId: entry.id }),
    },
  }
}
