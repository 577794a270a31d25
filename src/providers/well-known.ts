import { type Outgoing, OutgoingError, type OutgoingErrorKind } from '../egress/outgoing.ts'
import { ProviderRefusal, refusalWithoutResponse } from './provider-refusal.ts'
import { type Members, readJsonMembers } from './response-body.ts'

interface WellKnown {
  /** The owner of the metadata, for messages. */
  readonly of: string
  /** Errors that mean, like 404, that there is no metadata. */
  readonly nothing: readonly OutgoingErrorKind[]
}

/**
 * The JSON object at a well-known place (RFC 8615); `undefined` when there is none, so that the caller tries the next
 * place. Throws `ProviderRefusal`.
 */
export async function readWellKnown(
  outgoing: Outgoing,
  url: URL,
  { of, nothing }: WellKnown,
): Promise<Members | undefined> {
  try {
    const { status, body } = await outgoing.send({
      url,
      purpose: 'discovery',
      headers: { accept: 'application/json' },
    })
    if (status >= 500 || status === 429)
      throw new ProviderRefusal('provider_unavailable', `${of} cannot answer right now (HTTP ${status}).`)
    return status === 200 ? readJsonMembers(body) : undefined
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error
    if (nothing.includes(error.kind)) return undefined
    throw refusalWithoutResponse(error)
  }
}
