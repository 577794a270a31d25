import { type Outgoing, OutgoingError, type OutgoingErrorKind } from '../egress/outgoing.ts'
import { ProviderRefusal, refusalWithoutResponse } from './provider-refusal.ts'
import { type Members, readJsonMembers } from './response-body.ts'

interface WellKnown {
  /** The owner of the metadata, for messages. */
  readonly of: string
  /** Errors that mean, like 404, that there is no metadata. */
  readonly nothing: readonly OutgoingErrorKind[]
}

/** The JSON object at a well-known place (RFC 8615); `undefined` when there is none. Throws `ProviderRefusal`. */
export async function readWellKnown(
  outgoing: Outgoing,
  url: URL,
  wellKnown: WellKnown,
): Promise<Members | undefined> {
  const found = await readAt(outgoing, url, wellKnown)
  return typeof found === 'string' ? undefined : found
}

/**
 * The JSON object at the first of the URLs that has one; else the URLs with what each answered, for a message.
 * Throws `ProviderRefusal`.
 */
export async function readFirstWellKnown(
  outgoing: Outgoing,
  urls: readonly URL[],
  wellKnown: WellKnown,
): Promise<Members | string> {
  const tried: string[] = []
  for (const url of urls) {
    const found = await readAt(outgoing, url, wellKnown)
    if (typeof found !== 'string') return found
    tried.push(`${url.href} (${found})`)
  }
  return tried.join(' nor at ')
}

/** The JSON object at the URL, or why there is none. */
async function readAt(outgoing: Outgoing, url: URL, { of, nothing }: WellKnown): Promise<Members | string> {
  try {
    const { status, body } = await outgoing.send({
      url,
      purpose: 'discovery',
      headers: { accept: 'application/json' },
    })
    if (status >= 500 || status === 429)
      throw new ProviderRefusal('provider_unavailable', `${of} cannot answer right now (HTTP ${status}).`)
    return status === 200 ? (readJsonMembers(body) ?? 'no JSON object') : `HTTP ${status}`
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error
    if (nothing.includes(error.kind)) return error.reason
    throw refusalWithoutResponse(error)
  }
}
