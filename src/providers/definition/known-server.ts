import type { Provider } from '../provider.ts'
import type { Found } from './member.ts'
import type { OAuth2Context } from './requests.ts'

// Which server a definition describes, where settings that it leaves out depend on that.

/** Whether requests still go to the base's host: settings of one server do not hold for another. */
export function sameServer({ base, read }: OAuth2Context): boolean {
  return sameHost(endpointIn(base), endpointIn(read))
}

/** The provider whose facts hold for the server: the base while its host is the same, else one of the catalogue. */
export function knownServer(context: OAuth2Context): Provider | undefined {
  const { base, read } = context
  if (base !== undefined && sameServer(context)) return base
  const { authorizationRequest, tokenRequest } = read
  if (authorizationRequest === undefined || tokenRequest === undefined) return undefined
  return context.knownAt(authorizationRequest.endpoint, tokenRequest.endpoint)
}

/** The endpoint that says which server it is: where users are sent, or where the client alone asks for tokens. */
function endpointIn({ authorizationRequest, tokenRequest }: Found<Provider> = {}): string | undefined {
  return (authorizationRequest ?? tokenRequest)?.endpoint
}

export function sameHost(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return new URL(one).host === new URL(other).host
}
