import { lookup } from 'node:dns'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { LookupFunction } from 'node:net'

interface Cookie {
  readonly name: string
  readonly value: string
  readonly path: string
  readonly sameSite: string
  readonly httpOnly: boolean
  readonly expiresAt: number
}

/** The page at the end of a step of the browser. `hops` are the redirects on the way, in order. */
export interface Page {
  readonly response: Response
  readonly status: number
  readonly url: string
  readonly body: string
  readonly hops: readonly Hop[]
}

export interface Hop {
  readonly url: string
  readonly status: number
  readonly location: string
}

export interface RequestOptions {
  /** `undefined`: not sent. */
  readonly headers?: Record<string, string | undefined>
  /** The page with the link or the form; absent: the URL was typed into the address bar. */
  readonly from?: string
}

export interface FollowOptions extends RequestOptions {
  /** Does not follow a redirect to a URL for which this holds; the page is then the redirect. */
  readonly until?: (url: URL) => boolean
}

export interface HtmlForm {
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
  readonly buttons: readonly { name: string; value: string; text: string }[]
}

const MAX_HOPS = 20
const USER_AGENT = 'Mozilla/5.0 (gatepass test user agent)'

/**
 * A browser of one user, without a window: keeps cookies, sends Origin and Sec-Fetch-Site as a browser does, and
 * fills in forms. Unlike in a browser, cookies belong to host and port, so that servers on 127.0.0.1 do not
 * share them, and `Secure` cookies are refused over http.
 */
export class UserAgent {
  readonly #jar = new Map<string, Map<string, Cookie>>()

  /** Sends one request; a redirect is returned, not followed. */
  async get(url: string | URL, options: RequestOptions = {}): Promise<Page> {
    return this.#send('GET', new URL(url), undefined, options)
  }

  /** Posts one form; a redirect is returned, not followed. Default of `from`: the origin of the target. */
  async post(
    url: string | URL,
    form: Record<string, string> | string = {},
    options: RequestOptions = {},
  ): Promise<Page> {
    const body = typeof form === 'string' ? form : new URLSearchParams(form).toString()
    const to = new URL(url)
    return this.#send('POST', to, body, { from: `${to.origin}/`, ...options })
  }

  /** Sends a GET and follows redirects up to a page. */
  async follow(url: string | URL, options: FollowOptions = {}): Promise<Page> {
    return this.#followFrom(await this.get(url, options), options)
  }

  /**
   * Sends the first POST form of the page with its hidden and prefilled fields, `fields` merged over them, by the
   * button with the value or text `button` (default: the first one), and follows redirects.
   */
  async submitForm(
    page: Pick<Page, 'url' | 'body'> & Partial<Page>,
    fields: Record<string, string> = {},
    { button, ...options }: FollowOptions & { readonly button?: string } = {},
  ): Promise<Page> {
    const form = formIn(page)
    if (!form) throw new Error(`no POST form at ${page.url}: ${page.body.slice(0, 200)}`)
    const pressed =
      button === undefined
        ? form.buttons[0]
        : form.buttons.find(({ value, text }) => value === button || text === button)
    if (button !== undefined && !pressed) throw new Error(`no button ${button} at ${page.url}`)
    const press = pressed?.name ? { [pressed.name]: pressed.value } : {}
    const bare = page.response?.headers.get('referrer-policy') === 'no-referrer'
    const sent = await this.post(
      form.action,
      { ...form.fields, ...press, ...fields },
      { from: page.url, ...options, headers: { ...(bare && { origin: 'null' }), ...options.headers } },
    )
    return this.#followFrom(sent, { from: page.url, ...options })
  }

  /** The cookies that would be sent to this URL. */
  cookies(url: string | URL): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#matching(new URL(url)).map(({ name, value }) => [name, value]))
  }

  clearCookies(): void {
    this.#jar.clear()
  }

  async #followFrom(first: Page, options: FollowOptions): Promise<Page> {
    const hops: Hop[] = []
    const visited = [options.from, first.url]
    let page = first
    for (;;) {
      const location = page.response.headers.get('location')
      if (page.status < 300 || page.status > 399 || !location) return { ...page, hops }
      const next = new URL(location, page.url)
      hops.push({ url: page.url, status: page.status, location: next.href })
      if (options.until?.(next)) return { ...page, hops }
      if (hops.length > MAX_HOPS) throw new Error(`more than ${MAX_HOPS} redirects, at ${page.url}`)
      if (page.status === 307 || page.status === 308)
        throw new Error(
          `${page.status} at ${page.url}: it would repeat the request, which no page here should`,
        )
      page = await this.#send('GET', next, undefined, options, visited)
      visited.push(page.url)
    }
  }

  async #send(
    method: 'GET' | 'POST',
    url: URL,
    body: string | undefined,
    { headers = {}, from }: RequestOptions,
    chain: readonly (string | undefined)[] = [from],
  ): Promise<Page> {
    const site = siteOf(url, chain)
    const sendable = this.#matching(url).filter(
      ({ sameSite }) =>
        site !== 'cross-site' || sameSite === 'none' || (sameSite === 'lax' && method === 'GET'),
    )
    const cookie = sendable.map(({ name, value }) => `${name}=${value}`).join('; ')
    const all = {
      accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
      'user-agent': USER_AGENT,
      'sec-fetch-site': site,
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      'sec-fetch-user': '?1',
      ...(cookie && { cookie }),
      ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(method === 'POST' && from && { origin: new URL(from).origin }),
      ...headers,
    }
    const sent = Object.entries(all).filter((header): header is [string, string] => header[1] !== undefined)
    const answered = await exchange(method, url, body, Object.fromEntries(sent))
    for (const line of answered.setCookies) this.#keep(url, line)
    const empty = answered.status === 204 || answered.status === 304
    const response = new Response(empty ? null : answered.body, {
      status: answered.status,
      headers: answered.headers,
    })
    return { response, status: answered.status, url: url.href, body: answered.body, hops: [] }
  }

  #matching(url: URL): Cookie[] {
    const cookies = [...(this.#jar.get(url.host)?.values() ?? [])]
    return cookies.filter(({ path, expiresAt }) => expiresAt > Date.now() && pathMatches(url.pathname, path))
  }

  /** RFC 6265 section 5.3, as far as tests need it. */
  #keep(url: URL, line: string): void {
    const [pair = '', ...rest] = line.split(';')
    const equals = pair.indexOf('=')
    const name = pair.slice(0, equals).trim()
    const value = pair.slice(equals + 1).trim()
    const attributes = new Map(
      rest.map((attribute) => {
        const [key = '', ...words] = attribute.split('=')
        return [key.trim().toLowerCase(), words.join('=').trim()]
      }),
    )
    const secure = attributes.has('secure')
    const domain = attributes.get('domain')
    if (secure && url.protocol !== 'https:') return
    if (name.startsWith('__Secure-') && !secure) return
    if (name.startsWith('__Host-') && !(secure && attributes.get('path') === '/' && !domain)) return
    if (domain && domain.replace(/^\./, '') !== url.hostname) return

    const given = attributes.get('path')
    const path = given?.startsWith('/') ? given : url.pathname.replace(/\/[^/]*$/, '') || '/'
    const maxAge = attributes.get('max-age')
    const expires = attributes.get('expires')
    const expiresAt = maxAge ? Date.now() + Number(maxAge) * 1000 : expires ? Date.parse(expires) : Infinity
    const cookies = this.#jar.get(url.host) ?? new Map<string, Cookie>()
    this.#jar.set(url.host, cookies)
    const key = `${name};${path}`
    if (expiresAt <= Date.now()) cookies.delete(key)
    else {
      const sameSite = (attributes.get('samesite') ?? 'lax').toLowerCase()
      cookies.set(key, { name, value, path, sameSite, httpOnly: attributes.has('httponly'), expiresAt })
    }
  }
}

/** The first `<form method="post">` of a page. */
export function formIn({ url, body }: Pick<Page, 'url' | 'body'>): HtmlForm | undefined {
  for (const [, open = '', inner = ''] of body.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)) {
    const form = attributesOf(open)
    if (form.method?.toLowerCase() !== 'post') continue
    const fields: Record<string, string> = {}
    const buttons: { name: string; value: string; text: string }[] = []
    for (const [, tag = ''] of inner.matchAll(/<input\b([^>]*)>/gi)) {
      const { type = 'text', name = '', value = '', checked } = attributesOf(tag)
      if (type === 'submit') buttons.push({ name, value, text: value })
      else if (name && (!['checkbox', 'radio'].includes(type) || checked !== undefined)) fields[name] = value
    }
    for (const [, tag = '', text = ''] of inner.matchAll(/<button\b([^>]*)>([\s\S]*?)<\/button>/gi)) {
      const { type = 'submit', name = '', value = '' } = attributesOf(tag)
      if (type === 'submit')
        buttons.push({ name, value, text: unescapeHtml(text.replace(/<[^>]*>/g, '')).trim() })
    }
    return { action: new URL(form.action ?? '', url).href, fields, buttons }
  }
  return undefined
}

/** The Sec-Fetch-Site of a navigation, as a browser sends it; the worst of the chain counts. */
function siteOf(to: URL, chain: readonly (string | undefined)[]): string {
  const origins = chain.filter((url) => url !== undefined).map((url) => new URL(url))
  if (chain[0] === undefined) return 'none' // typed into the address bar; redirects do not change that
  if (origins.some(({ hostname }) => hostname !== to.hostname)) return 'cross-site'
  return origins.every(({ origin }) => origin === to.origin) ? 'same-origin' : 'same-site'
}

function pathMatches(path: string, cookiePath: string): boolean {
  if (!path.startsWith(cookiePath)) return false
  return path.length === cookiePath.length || cookiePath.endsWith('/') || path[cookiePath.length] === '/'
}

function attributesOf(tag: string): Record<string, string | undefined> {
  const found: Record<string, string> = {}
  for (const [, name = '', double, single, bare] of tag.matchAll(
    /([\w-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g,
  ))
    found[name.toLowerCase()] = unescapeHtml(double ?? single ?? bare ?? '')
  return found
}

function unescapeHtml(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (decimal) return String.fromCodePoint(Number(decimal))
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16))
    return named[name] ?? whole
  })
}

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly setCookies: readonly string[]
  readonly body: string
}

/** node:http rather than fetch: fetch writes its own Sec-Fetch-Mode and keeps sockets open after the test. */
function exchange(
  method: string,
  url: URL,
  body: string | undefined,
  headers: Record<string, string>,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, { method, headers, agent: false, lookup: lookUp }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: headersOf(incoming.headers),
          setCookies: incoming.headers['set-cookie'] ?? [],
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      )
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Resolves names below `localhost` to this machine, as browsers do (RFC 6761 section 6.3). */
const lookUp: LookupFunction = (hostname, options, callback) =>
  lookup(hostname.endsWith('.localhost') ? '127.0.0.1' : hostname, options, callback)

function headersOf(incoming: IncomingHttpHeaders): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming))
    for (const each of Array.isArray(value) ? value : [value ?? '']) headers.append(name, each)
  return headers
}
