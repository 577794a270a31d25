import { type Issued, keptIn } from './answers.ts'
import type { SimulatedBlock, SimulatedClient, SimulatedOAuth2, SimulatedRequest } from './definition.ts'
import { render } from './template.ts'

/** The codes and the latest grant. They distinguish the kinds of request that go to the same endpoint. */
interface KnownSecrets {
  readonly codes: readonly string[]
  readonly grant: Issued | undefined
}

/** The endpoints and the API of a definition. */
export class SimulatedEndpoints {
  readonly #oauth2: SimulatedOAuth2
  readonly #client: SimulatedClient
  /** The installation whose token is asked for. */
  installationId = ''

  constructor(oauth2: SimulatedOAuth2, client: SimulatedClient) {
    this.#oauth2 = oauth2
    this.#client = client
  }

  /** Whether the host is that of an endpoint or of the API. */
  knows(url: URL): boolean {
    return this.#blocks().some(([, block]) => this.of(block).host === url.host) || this.#isApi(url)
  }

  /** Which request of the definition this is; `undefined` if none. Several kinds may go to one endpoint. */
  kindOf(request: SimulatedRequest, { codes, grant }: KnownSecrets) {
    const matching = this.#blocks().flatMap(([kind, block]) =>
      kind !== 'authorization' && isAt(request.url, this.of(block)) ? [{ kind, block }] : [],
    )
    const [first, ...others] = matching
    if (first === undefined) return this.#isApi(request.url) ? ('api' as const) : undefined
    if (others.length === 0) return first.kind
    const { refreshToken = '', accessToken = '', isFirst = false } = grant ?? {}
    const byMethod = matching.filter(({ block }) => (block.method ?? 'POST') === request.method)
    const mayBe = (kind: string) => byMethod.some((shape) => shape.kind === kind)
    if (mayBe('token') && codes.some((code) => holds(request, code))) return 'token' as const
    if (mayBe('refresh') && refreshToken !== '' && holds(request, refreshToken)) return 'refresh' as const
    if (mayBe('exchange') && isFirst && holds(request, accessToken)) return 'exchange' as const
    if (mayBe('renewal') && accessToken !== '' && holds(request, accessToken)) return 'renewal' as const
    if (mayBe('revocation') && accessToken !== '' && holds(request, accessToken)) return 'revocation' as const
    return (byMethod[0] ?? first).kind
  }

  #blocks() {
    const oauth2 = this.#oauth2
    const all = [
      ['authorization', oauth2.authorize_request],
      ['pushedAuthorization', oauth2.pushed_authorization_request],
      ['deviceAuthorization', oauth2.device_authorization_request],
      ['token', oauth2.token_request],
      ['installations', oauth2.installations_request],
      ['installationToken', oauth2.installation_token_request],
      ['choices', oauth2.choices_request],
      ['refresh', oauth2.refresh_request],
      ['exchange', oauth2.exchange_request],
      ['renewal', oauth2.renewal_request],
      ['userInfo', oauth2.user_info_request],
      ['introspection', oauth2.token_introspection_request],
      ['revocation', oauth2.revocation_request],
    ] as const
    return all.flatMap(([kind, block]) => (block === undefined ? [] : [[kind, block] as const]))
  }

  #isApi(url: URL): boolean {
    return (this.#oauth2.api?.hosts ?? []).some((host) =>
      host.startsWith('*.') ? url.host.endsWith(host.slice(1)) : url.host === host,
    )
  }

  /** The endpoint of a request block as a URL, with its placeholders filled in. */
  of({ endpoint }: SimulatedBlock): URL {
    const { variables = {} } = this.#oauth2
    const values = Object.entries(variables).map(([name, { value = '' }]) => [name, value] as const)
    const client = ['client_id', encodeURIComponent(this.#client.clientId)] as const
    const fromCallback = keptIn(this.#oauth2, 'authorization_response', 'names')
    const installation = ['installation_id', this.installationId] as const
    return new URL(
      render(endpoint, { ...fromCallback, ...Object.fromEntries([...values, client, installation]) }),
    )
  }
}

function isAt(url: URL, endpoint: URL): boolean {
  const isSame = url.origin === endpoint.origin && url.pathname === endpoint.pathname
  return isSame && [...endpoint.searchParams].every(([name, value]) => url.searchParams.get(name) === value)
}

/** Whether the text is anywhere in the request. */
export function holds({ url, headers, body }: SimulatedRequest, text: string): boolean {
  return [url.search, body, ...Object.values(headers)].some((header) => header.includes(text))
}
