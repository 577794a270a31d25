import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { signingKeys } from '../providers/oauth1/keys.ts'
import { type RequestToSign, signedAuthorization } from '../providers/oauth1/signature.ts'
import type { Release } from '../services/release.ts'

/** A request to a provider's API, before its signature. */
export interface UnsignedRequest extends Omit<RequestToSign, 'form' | 'protocol'> {
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined
}

/**
 * The header with the signature that requests need with tokens of OAuth 1.0a (RFC 5849 section 3); none for other tokens.
 * Each attempt needs its own. Throws `request_too_large` for a form that is not in memory, since its parameters are signed.
 */
export function signatureHeaders(
  broker: Pick<Broker, 'clientFor' | 'now'>,
  { entry, accessToken, tokenSecret }: Release,
  { headers, body, ...request }: UnsignedRequest,
): Readonly<Record<string, string>> {
  const { provider } = entry
  const client = provider.oauth1 && broker.clientFor(entry)
  if (client === undefined) return {}
  const keys = signingKeys(provider, client, { token: accessToken, tokenSecret })
  const form = isForm(headers) ? bytesOf(body) : undefined
  return { authorization: signedAuthorization(keys, { ...request, form }, broker.now()) }
}

function isForm(headers: UnsignedRequest['headers']): boolean {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  return /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)
}

function bytesOf(body: UnsignedRequest['body']): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body
  if (typeof body === 'string') return Buffer.from(body)
  throw new BrokerError(
    'request_too_large',
    'The form is larger than 256 KiB: its parameters have to be signed (OAuth 1.0a), so it cannot be forwarded as a stream. Send it as JSON or multipart/form-data if the API takes that.',
  )
}
