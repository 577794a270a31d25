import { exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose'
import { answerJson, listen } from '../loopback.ts'

export type TokenIssuer = Awaited<ReturnType<typeof startTokenIssuer>>

/** An authorization server that only signs access tokens, with any claims. `behaviour` may be changed while it runs. */
export async function startTokenIssuer() {
  const published: object[] = []
  const behaviour = { fails: false }
  let keyRequests = 0
  const loopback = await listen((req, res) => {
    if (behaviour.fails) return answerJson(res, 503, {})
    if (req.url === '/jwks') {
      keyRequests++
      return answerJson(res, 200, { keys: published })
    }
    if (req.url === '/.well-known/openid-configuration')
      return answerJson(res, 200, {
        issuer: loopback.url,
        authorization_endpoint: `${loopback.url}/authorize`,
        token_endpoint: `${loopback.url}/token`,
        jwks_uri: `${loopback.url}/jwks`,
      })
    return answerJson(res, 404, {})
  })

  /** Makes a key, and by default publishes it. */
  async function addKey(kid: string, { isPublished = true, alg = 'ES256' } = {}) {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
    const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }
    if (isPublished) published.push(jwk)
    return {
      jwk,
      sign: (claims: JWTPayload, header: Partial<JWTHeaderParameters> = {}) =>
        new SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header }).sign(privateKey),
    }
  }

  return {
    ...loopback,
    issuer: loopback.url,
    published,
    behaviour,
    addKey,
    get keyRequests() {
      return keyRequests
    },
  }
}
