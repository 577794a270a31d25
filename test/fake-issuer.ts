import { randomBytes } from 'node:crypto'
import { base64url, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { answerJson, listen, type RecordedRequest, record } from './loopback.ts'

/** How the issuer behaves from the next request on; set members at any time. */
export interface IssuerBehaviour {
  /** The claims of the ID token, among them the user. `undefined` removes one. */
  claims: Record<string, unknown>
  /** The user info; absent: the metadata names no such endpoint. */
  userInfo: Record<string, unknown> | undefined
  /** `other key` has the right `kid`; `none` and `HS256` are the classic forgeries. */
  signature: 'good' | 'other key' | 'none' | 'HS256'
  /** Merged over the metadata. */
  metadata: Record<string, unknown>
  /** `iss` of the authentication response; `true`: the issuer's own. */
  iss: boolean | string
  /** `error` instead of a code. */
  error: string | undefined
  /** An HTTP status with which an endpoint answers in place of its answer. */
  fails: { readonly path: string; readonly status: number } | undefined
}

export type FakeIssuer = Awaited<ReturnType<typeof startFakeIssuer>>

/** An OpenID issuer that can lie. It logs every browser in at once. */
export async function startFakeIssuer(options: Partial<IssuerBehaviour> = {}) {
  const behaviour: IssuerBehaviour = {
    claims: {},
    userInfo: undefined,
    signature: 'good',
    metadata: {},
    iss: false,
    error: undefined,
    fails: undefined,
    ...options,
  }
  const requests: RecordedRequest[] = []
  const codes = new Map<string, RecordedRequest['params']>()
  const keys = await generateKeyPair('ES256', { extractable: true })
  const otherKeys = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }
  const clientId = 'gatepass-client'
  const clientSecret = `login-secret-${randomBytes(12).toString('hex')}`

  const loopback = await listen(async (req, res) => {
    const request = await record(req)
    requests.push(request)
    const { path, params } = request
    if (behaviour.fails?.path === path) return answerJson(res, behaviour.fails.status, { error: 'no' })
    switch (path) {
      case '/.well-known/openid-configuration':
        return answerJson(res, 200, { ...metadata(), ...behaviour.metadata })
      case '/jwks':
        return answerJson(res, 200, { keys: [jwk] })
      case '/authorize': {
        const code = `login_code_${randomBytes(16).toString('hex')}`
        codes.set(code, params)
        const to = new URL(params.redirect_uri ?? '')
        if (behaviour.error === undefined) to.searchParams.set('code', code)
        else to.searchParams.set('error', behaviour.error)
        to.searchParams.set('state', params.state ?? '')
        if (behaviour.iss !== false) to.searchParams.set('iss', behaviour.iss === true ? url : behaviour.iss)
        return res.writeHead(302, { location: to.href }).end()
      }
      case '/token': {
        const asked = codes.get(params.code ?? '')
        codes.delete(params.code ?? '')
        if (asked === undefined) return answerJson(res, 400, { error: 'invalid_grant' })
        return answerJson(res, 200, {
          access_token: `login_token_${randomBytes(16).toString('hex')}`,
          token_type: 'Bearer',
          id_token: await idToken(asked.nonce),
        })
      }
      case '/userinfo':
        return answerJson(res, 200, behaviour.userInfo)
      default:
        return answerJson(res, 404, {})
    }
  })
  const { url } = loopback

  function metadata() {
    return {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/jwks`,
      ...(behaviour.userInfo && { userinfo_endpoint: `${url}/userinfo` }),
      id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'],
    }
  }

  async function idToken(nonce: string | undefined): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const all = { iss: url, aud: clientId, sub: 'u1', iat: now, exp: now + 300, nonce, ...behaviour.claims }
    const claims = JSON.parse(JSON.stringify(all)) as JWTPayload // without what is undefined
    const unsigned = [{ alg: 'none' }, claims].map((part) => base64url.encode(JSON.stringify(part))).join('.')
    switch (behaviour.signature) {
      case 'none':
        return `${unsigned}.`
      case 'HS256':
        return new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
          .sign(Buffer.from(clientSecret))
      default: {
        const { privateKey } = behaviour.signature === 'good' ? keys : otherKeys
        return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(privateKey)
      }
    }
  }

  return {
    ...loopback,
    issuer: url,
    clientId,
    clientSecret,
    behaviour,
    requests,
    requestsTo: (path: string) => requests.filter((request) => request.path === path),
  }
}
