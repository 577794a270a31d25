import { createHmac, createVerify, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { answer, listen, type RecordedRequest, record } from './loopback.ts'

// A server of OAuth 1.0a, written from RFC 5849, with an API whose requests have to be signed. It shares no code with src.

export interface OAuth1Server extends AsyncDisposable {
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
  /** How the server departs from the RFC. */
  readonly behaviour: {
    confirmsCallback: boolean
    /** Redirects back without a verifier, with `denied`. */
    denies: boolean
    /** Redirects back to this URL in place of the callback that was sent, as servers do that register one. */
    fixedCallback?: string | undefined
    /** The access token no longer counts. */
    isRevoked: boolean
    /** Refuses every request for a token with this `oauth_problem`. */
    problem?: string | undefined
    /** Sends the browser back with the token of another request. */
    returnsToken?: string | undefined
  }
  /** Signed requests that were accepted. */
  readonly accepted: readonly RecordedRequest[]
  /** Why requests were refused. */
  readonly refused: readonly string[]
  /** Tokens and secrets that were issued. */
  readonly issued: { readonly token: string; readonly secret: string }[]
}

interface Temporary {
  readonly secret: string
  readonly callback: string
  readonly verifier: string
}

export async function startOAuth1Server(
  options: {
    readonly now?: () => number
    readonly signatureMethod?: string
    readonly clientSecret?: string
    /** The public key, for RSA-SHA1. */
    readonly publicKey?: string
    readonly realm?: string
  } = {},
): Promise<OAuth1Server> {
  const { now = () => Date.now() / 1000, signatureMethod = 'HMAC-SHA1', publicKey, realm } = options
  const clientId = 'client & co'
  const clientSecret = options.clientSecret ?? 's3cret of +client/'
  const behaviour: OAuth1Server['behaviour'] = { confirmsCallback: true, denies: false, isRevoked: false }
  const temporary = new Map<string, Temporary>()
  const tokens = new Map<string, string>()
  const nonces = new Set<string>()
  const accepted: RecordedRequest[] = []
  const refused: string[] = []
  const issued: { token: string; secret: string }[] = []

  /** The protocol parameters of a signed request, or why it is refused (RFC 5849 section 3.2). */
  function verify(request: RecordedRequest, secretOf: (token: string) => string | undefined) {
    const header = request.headers.authorization ?? ''
    if (!header.startsWith('OAuth ')) return 'no signature'
    const given = [...header.slice(6).matchAll(/([\w]+)="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value] as const,
    )
    if (realm !== undefined && given.find(([name]) => name === 'realm')?.[1] !== realm) return 'another realm'
    const protocol = given
      .filter(([name]) => name !== 'realm')
      .map(([name, value]) => [name, decodeURIComponent(value)] as const)
    const params = Object.fromEntries(protocol)
    if (Object.keys(params).length < protocol.length) return 'a parameter twice'
    if (params.oauth_consumer_key !== clientId) return 'another client'
    if (params.oauth_signature_method !== signatureMethod) return 'another signature method'
    if (Math.abs(Number(params.oauth_timestamp) - now()) > 300) return 'an old timestamp'
    const secret = secretOf(params.oauth_token ?? '')
    if (secret === undefined) return 'an unknown token'
    const used = `${params.oauth_timestamp} ${params.oauth_nonce} ${params.oauth_token}`
    if (nonces.has(used)) return 'a nonce twice'
    nonces.add(used)
    const isForm = request.form !== undefined
    const all = [
      ...new URLSearchParams(request.search),
      ...(isForm ? new URLSearchParams(request.body) : []),
      ...protocol.filter(([name]) => name !== 'oauth_signature'),
    ].map(([name, value]) => [escaped(name), escaped(value)] as const)
    all.sort(
      (one, other) =>
        Buffer.compare(Buffer.from(one[0]), Buffer.from(other[0])) ||
        Buffer.compare(Buffer.from(one[1]), Buffer.from(other[1])),
    )
    const base = [
      request.method.toUpperCase(),
      `http://${request.headers.host}${request.path}`,
      all.map((pair) => pair.join('=')).join('&'),
    ]
      .map(escaped)
      .join('&')
    const key = `${escaped(clientSecret)}&${escaped(secret)}`
    const signature = params.oauth_signature ?? ''
    const isGenuine =
      signatureMethod === 'RSA-SHA1'
        ? createVerify('RSA-SHA1')
            .update(base)
            .verify(publicKey ?? '', signature, 'base64')
        : signature ===
          (signatureMethod === 'PLAINTEXT'
            ? key
            : createHmac(signatureMethod === 'HMAC-SHA1' ? 'sha1' : 'sha256', key)
                .update(base)
                .digest('base64'))
    return isGenuine ? params : 'a wrong signature'
  }

  const form = (res: ServerResponse, members: Record<string, string>) =>
    answer(res, 200, 'application/x-www-form-urlencoded', new URLSearchParams(members).toString())
  const refuse = (res: ServerResponse, why: string) => {
    refused.push(why)
    answer(res, 401, 'text/plain', why)
  }

  const server = await listen(async (req, res) => {
    const request = await record(req)
    if (request.path === '/authorize') {
      const asked = temporary.get(request.query.oauth_token ?? '')
      if (asked === undefined) return answer(res, 400, 'text/plain', 'an unknown token')
      const back = new URL(behaviour.fixedCallback ?? asked.callback)
      if (behaviour.denies) back.searchParams.set('denied', request.query.oauth_token ?? '')
      else {
        back.searchParams.set('oauth_token', behaviour.returnsToken ?? request.query.oauth_token ?? '')
        back.searchParams.set('oauth_verifier', asked.verifier)
      }
      res.writeHead(302, { location: back.href }).end()
      return
    }
    const isOfClient = request.path === '/temporary'
    const isExchange = request.path === '/token'
    const verified = verify(request, (token) =>
      isOfClient
        ? ''
        : isExchange
          ? temporary.get(token)?.secret
          : behaviour.isRevoked
            ? undefined
            : tokens.get(token),
    )
    if ((isOfClient || isExchange) && behaviour.problem !== undefined) {
      const problem = new URLSearchParams({ oauth_problem: behaviour.problem })
      return answer(res, 401, 'application/x-www-form-urlencoded', problem.toString())
    }
    if (typeof verified === 'string') return refuse(res, verified)
    accepted.push(request)
    if (isOfClient) {
      const token = `temporary-${randomBytes(8).toString('hex')}`
      const secret = `temporary secret ${randomBytes(8).toString('hex')}`
      const callback = verified.oauth_callback ?? ''
      temporary.set(token, { secret, callback, verifier: `v-${randomBytes(8).toString('hex')}` })
      return form(res, {
        oauth_token: token,
        oauth_token_secret: secret,
        ...(behaviour.confirmsCallback && { oauth_callback_confirmed: 'true' }),
      })
    }
    if (isExchange) {
      const asked = temporary.get(verified.oauth_token ?? '')
      if (asked?.verifier !== verified.oauth_verifier) return refuse(res, 'another verifier')
      temporary.delete(verified.oauth_token ?? '')
      const granted = {
        token: `token-${randomBytes(12).toString('hex')}`,
        secret: `token-secret-${randomBytes(12).toString('hex')}`,
      }
      issued.push(granted)
      tokens.set(granted.token, granted.secret)
      return form(res, {
        oauth_token: granted.token,
        oauth_token_secret: granted.secret,
        user_id: '7',
        screen_name: 'ada',
      })
    }
    const said = JSON.stringify({
      id: 7,
      login: 'ada',
      params: request.params,
      echo: [request.headers.authorization, ...issued.flatMap(({ token, secret }) => [token, secret])],
    })
    answer(res, 200, 'application/json', said)
  })

  return {
    url: server.url,
    clientId,
    clientSecret,
    behaviour,
    accepted,
    refused,
    issued,
    [Symbol.asyncDispose]: () => server.close(),
  }
}

function escaped(text: string): string {
  return encodeURIComponent(text).replace(
    /[!*'()]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
