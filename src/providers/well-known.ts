import { type Outgoing, OutgoingError, type OutgoingErrorKind } from '../egress/outgoing.ts'
import { ProviderRefusal } from './provider-refusal.ts'
import { type Members, readJsonMembers } from './response-body.ts'

interface WellKnown {
  /** Whose metadata it is, for a message. */
  readonly of: string
  /** What else means that nothing is to be read there. */
  readonly nothing: readonly OutgoingErrorKind[]
}

/**
 * The JSON object at a well-known place (RFC 8615); `undefined` when there is nothing to be read there, as the next
 * place is tried then. Throws `ProviderRefusal`.
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
    const isPassing = error.kind === 'unreachable' || error.kind === 'timeout' || error.kind === 'busy'
    const reason = isPassing ? 'provider_unavailable' : 'provider_refused'
    throw new ProviderRefusal(reason, error.message, { cause: error })
  }
}
