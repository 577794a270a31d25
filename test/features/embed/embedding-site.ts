import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startWorld, type World } from '../../http/world.ts'

/** An application on another site than Gatepass, whose page embeds it. */
export interface EmbeddingSite extends AsyncDisposable {
  readonly world: World
  /** The origin of the application. */
  readonly origin: string
  /** The origin of another site, which no session allows. */
  readonly evil: string
  /** The sessions that the application's server began for its pages, the newest last. */
  readonly sessions: { readonly session_token: string; readonly url: string; readonly auth_id: string }[]
}

const HEAD =
  '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'

/**
 * `/` has the element, `/bare` only the script; `?csp` and `?referrer` set the headers, `?lang` the language, and with
 * `?mode` the page connects when it is loaded, without a click.
 */
export async function startEmbeddingSite(): Promise<EmbeddingSite> {
  let world: World | undefined
  let users = 0
  const sessions: EmbeddingSite['sessions'] = []
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://app.localhost')
    const gatepass = world?.gatepass.url
    if (url.pathname === '/session') {
      const begun = await world?.call('POST', '/v1/connect_sessions', {
        user_id: `user-${users++}`,
        provider_id: 'demo',
        scopes: ['read'],
        allowed_origin: origin,
        next_uri: `${origin}/?back`,
      })
      if (begun !== undefined) sessions.push(begun.body)
      return response.setHeader('content-type', 'application/json').end(JSON.stringify(begun?.body))
    }
    const csp = url.searchParams.get('csp')
    if (csp !== null)
      response.setHeader('content-security-policy', csp.replaceAll('GATEPASS', gatepass ?? ''))
    const element = '<gatepass-connect session-url="/session">Connect demo</gatepass-connect>'
    const asks =
      "name: '/session', session: () => fetch('/session', { method: 'POST' }).then((one) => one.json())"
    const mode = url.searchParams.get('mode')
    const script = `<script type="module">
globalThis.events = []
for (const name of ['open', 'settled', 'blocked', 'expired'])
  document.addEventListener('gatepass-' + name, ({ detail }) => events.push(name + ' ' + JSON.stringify(detail)))
${mode === null ? '' : `import { connect } from '${gatepass}/embed/v1.js'\nconnect({ mode: '${mode}', ${asks} })`}
</script>`
    response.setHeader(
      'referrer-policy',
      url.searchParams.get('referrer') ?? 'strict-origin-when-cross-origin',
    )
    response.setHeader('content-type', 'text/html').end(
      `<!doctype html><html lang="${url.searchParams.get('lang') ?? 'en'}">${HEAD}<title>App</title>
<script type="module" src="${gatepass}/embed/v1.js"></script>${csp === null ? script : ''}
<body><main><h1>An application</h1>${url.pathname === '/' ? element : ''}</main></body>`,
    )
    return undefined
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const origin = `http://app.localhost:${port}`
  world = await startWorld({ gatepass: { environment: { GATEPASS_NEXT_URIS: origin } } })
  world.as.behaviour.consent = 'page'
  const opened = world
  return {
    world: opened,
    origin,
    evil: `http://evil.localhost:${port}`,
    sessions,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await opened[Symbol.asyncDispose]()
    },
  }
}
