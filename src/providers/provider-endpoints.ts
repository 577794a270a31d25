import { ENDPOINT_ROLES, type EndpointRole, REQUESTS_BY_ROLE } from './endpoint-role.ts'
import type { Provider } from './provider.ts'
import type { RequestBlock, RequestEndpoint } from './request-block.ts'

/** The authorization request of an entry whose users' browsers are sent to the server. Throws for any other entry. */
export const authorizationRequestIn = ({ displayName, authorizationRequest }: Provider) =>
  authorizationRequest ?? lacks(displayName, 'authorization')

/** The token request of an entry that has one. Throws for any other entry. */
export const tokenRequestIn = ({ displayName, tokenRequest }: Provider) =>
  tokenRequest ?? lacks(displayName, 'token')

function lacks(name: string, role: EndpointRole): never {
  throw new Error(`${name} has no ${role} request: the entry is of a kind that sends none`)
}

/**
 * The endpoint that people know a server by: where users are sent, else where tokens come from, else the API. `undefined`
 * where each connection has its own.
 */
export function mainEndpointOf(provider: Provider): string | undefined {
  const { authorizationRequest, tokenRequest, testRequest, api } = provider
  return (authorizationRequest ?? tokenRequest ?? testRequest)?.endpoint ?? api?.baseUrl
}

/** The host of `mainEndpointOf`; empty where there is none. */
export function hostOf(provider: Provider): string {
  const endpoint = mainEndpointOf(provider)
  return endpoint === undefined ? '' : new URL(endpoint).host
}

/** The requests that the entry describes, by the role of their endpoint. */
export function requestsOf(
  provider: Provider,
): readonly (readonly [role: EndpointRole, request: RequestEndpoint & Partial<RequestBlock>])[] {
  return ENDPOINT_ROLES.flatMap((role) => {
    const request = provider[REQUESTS_BY_ROLE[role].block]
    return request === undefined ? [] : [[role, request] as const]
  })
}

/**
 * The provider with `change` of each of its requests. An optional request for which it returns `undefined` is left out;
 * the others stay unchanged then.
 */
export function mapRequests(
  provider: Provider,
  change: <Block extends RequestEndpoint>(request: Block) => Block | undefined,
): Provider {
  const mapped: Partial<Record<keyof Provider, unknown>> = { ...provider }
  for (const [role, request] of requestsOf(provider)) {
    const { block } = REQUESTS_BY_ROLE[role]
    const changed = change(request)
    if (changed !== undefined) mapped[block] = changed
    else if (role !== 'authorization' && role !== 'token') delete mapped[block]
  }
  return mapped as unknown as Provider // each request is of the same kind as before
}

/** The origin and path of the entry's endpoints, by their role. */
export function endpointsOf(provider: Provider): Partial<Record<EndpointRole, string>> {
  const token = provider.tokenRequest && originAndPath(provider.tokenRequest.endpoint)
  const endpoints: Partial<Record<EndpointRole, string>> = {}
  for (const [role, request] of requestsOf(provider)) {
    const endpoint = originAndPath(request.endpoint)
    if (role !== 'refresh' || endpoint !== token) endpoints[role] = endpoint
  }
  return endpoints
}

export function originAndPath(endpoint: string): string {
  const { origin, pathname } = new URL(endpoint)
  return `${origin}${pathname}`
}
