import type { Client, ClientAuthMethod } from './provider.ts'

/** The client's credentials in a request: an `Authorization` value, or parameters of the body. */
export interface ClientCredentials {
  readonly authorization?: string
  readonly params: Readonly<Record<string, string>>
}

/**
 * How a client authenticates, in exactly one way per request (RFC 6749 section 2.3.1). Every request of the broker as
 * an OAuth client uses this function, so that a secret is encoded in the same way at the token, revocation and introspection
 * endpoints and at a login. A client without a secret is public and names itself by its `client_id` alone.
 */
export function clientCredentials(
  authMethod: ClientAuthMethod,
  { clientId, clientSecret }: Client,
): ClientCredentials {
  if (clientSecret === undefined || clientSecret === '') return { params: { client_id: clientId } }
  switch (authMethod) {
    case 'client_secret_basic':
      return { authorization: basic(formEncoded(clientId), formEncoded(clientSecret)), params: {} }
    case 'client_secret_basic_unencoded':
      return { authorization: basic(clientId, clientSecret), params: {} }
    case 'client_secret_post':
      return { params: { client_id: clientId, client_secret: clientSecret } }
    default:
      return { params: { client_id: clientId } }
  }
}

/**
 * `application/x-www-form-urlencoded` as RFC 6749 appendix B defines it and URLSearchParams implements it: letters,
 * digits and `*-._` stay unencoded, so servers that decode nothing still recognise UUIDs and most generated secrets.
 * A space is `%20` and not `+`: form decoders read both, percent decoders only the first.
 */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1).replaceAll('+', '%20')
}

/** RFC 7617 section 2, in UTF-8. */
function basic(userId: string, password: string): string {
  return `Basic ${Buffer.from(`${userId}:${password}`).toString('base64')}`
}
