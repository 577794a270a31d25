/** A request of an MCP server to open a link: `elicitation/create` in URL mode. */
export interface LinkRequest {
  readonly url: string
  /** Why, in words for the user. */
  readonly message: string
  /** The server's own id of the request, where it has one. */
  readonly id?: string | undefined
}

/** Shows the link to the user. If it answers `false`, the user does not want to open it. */
export type ShowLink = (request: LinkRequest) => unknown

/** `elicitation/create`, with the members that are read here. */
interface ElicitationRequest {
  readonly params: {
    readonly mode?: string | undefined
    readonly message: string
    readonly url?: unknown
    readonly elicitationId?: unknown
  }
}

/** `accept` says that the user got the link, not that the user has approved: the server waits for the approval. */
export interface ElicitationAnswer {
  readonly action: 'accept' | 'decline'
  readonly [member: string]: unknown
}

/**
 * Handles `elicitation/create` of an MCP client: shows the link of a URL-mode request and accepts. Declines when `show`
 * answers `false`, for links that are neither https nor to this computer, and for forms.
 *
 * ```ts
 * const client = new Client({ name: 'app', version: '1.0.0' }, { capabilities: { elicitation: { url: {} } } })
 * client.setRequestHandler('elicitation/create', onElicitation(({ url }) => console.log(url)))
 * ```
 */
export function onElicitation(show: ShowLink): (request: ElicitationRequest) => Promise<ElicitationAnswer> {
  return async ({ params: { mode, message, url, elicitationId } }) => {
    if (mode !== 'url' || typeof url !== 'string' || !isOpenable(url)) return { action: 'decline' }
    const id = typeof elicitationId === 'string' ? elicitationId : undefined
    const shown = await show({ url, message, id })
    return { action: shown === false ? 'decline' : 'accept' }
  }
}

/** A server may send any text: a link of another scheme could run something on the user's computer. */
function isOpenable(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'https:') return true
  return url?.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
}
