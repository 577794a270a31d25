import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { AttemptSecrets } from '../../src/domain/authorization.ts'
import { type Outgoing, OutgoingError, type OutgoingResponse } from '../../src/egress/outgoing.ts'
import { toFetch } from '../../src/egress/outgoing-fetch.ts'
import { createDiscovery } from '../../src/providers/discovery.ts'
import { createLoginClient, type LoginRegistration } from '../../src/providers/login-client.ts'
import { createOAuthClient } from '../../src/providers/oauth-client.ts'
import type { Provider } from '../../src/providers/provider.ts'
import type { RegisteredClient } from '../../src/providers/provider-entry.ts'
import { ProviderRefusal } from '../../src/providers/provider-refusal.ts'
import type { ResourceRequestBlock } from '../../src/providers/request-block.ts'
import {
  invokeWorker,
  type WorkerEndpoint,
  workerCatalogue,
  workerHealth,
} from '../../src/tools/arcade/worker-protocol.ts'

/** Every part that sends requests: each sends one to the given URL, and returns the refusal if there was one. */
export const CALLERS: Readonly<Record<string, (outgoing: Outgoing, url: string) => Promise<unknown>>> = {
  'token endpoint': (outgoing, url) => {
    const response = new URLSearchParams({ code: 'SECRET-code', state: 's' })
    return refusalOf(oauth(outgoing).redeem(clientAt(url), response, SECRETS))
  },
  'refresh endpoint': (outgoing, url) =>
    refusalOf(
      oauth(outgoing).refresh(clientAt(url), {
        refreshToken: 'SECRET-refresh',
        accessToken: 'SECRET-access',
      }),
    ),
  'user info endpoint': (outgoing, url) => askAbout(outgoing, { userInfoRequest: resource(url) }),
  'introspection endpoint': (outgoing, url) => askAbout(outgoing, { introspectionRequest: resource(url) }),
  'revocation endpoint': async (outgoing, url) => {
    const tokens = { accessToken: 'SECRET-access', refreshToken: 'SECRET-refresh' }
    return (await oauth(outgoing).revoke(clientAt(url), tokens)) === 'failed' ? 'failed' : undefined
  },
  'discovery of an issuer': (outgoing, url) => refusalOf(createDiscovery(outgoing, () => 0)(url)),
  'token endpoint of a login': (outgoing, url) => logIn(outgoing, { token_endpoint: url }),
  'keys of a login': (outgoing, url) => logIn(outgoing, { jwks_uri: url }),
  'user info of a login': (outgoing, url) => logIn(outgoing, { userinfo_endpoint: url }),
  'a stream': (outgoing, url) => refusalOf(outgoing.stream({ url }).then(({ body }) => body.cancel())),
  'the fetch of a library': (outgoing, url) => {
    const fetch = toFetch(outgoing, {
      purpose: 'worker',
      maxBytes: 1000,
      deadlineMs: Number.POSITIVE_INFINITY,
    })
    return refusalOf(fetch(url, { method: 'POST', body: 'SECRET' }).then((response) => response.text()))
  },
  'worker health': async (outgoing, url) => (await workerHealth(outgoing, workerAt(url))).message,
  'worker catalogue': (outgoing, url) =>
    refusalOf(
      workerCatalogue(outgoing, workerAt(url), {
        maxBytes: 1000,
        maxSeconds: Number.POSITIVE_INFINITY,
        owner: '',
      }),
    ),
  'worker invocation': async (outgoing, url) => {
    const answer = await invokeWorker(outgoing, workerAt(url), {
      runId: 'r',
      executionId: 'e',
      createdAt: '2026-11-21T00:00:00Z',
      tool: { name: 'T', toolkit: 'K' },
      inputs: {},
      context: { authorization: { token: 'SECRET-access', user_info: {} } },
    })
    return answer.outcome === 'error' ? answer.error : undefined
  },
  'any other request': (outgoing, url) => refusalOf(outgoing.send({ url, method: 'POST', body: 'SECRET' })),
}

const SECRETS: AttemptSecrets = {
  providerIdentity: 'x',
  codeVerifier: 'SECRET-verifier-SECRET-verifier-SECRET-verifier',
}

function oauth(outgoing: Outgoing) {
  return createOAuthClient(outgoing, () => 1000)
}

async function refusalOf(sent: Promise<unknown>): Promise<Error | undefined> {
  try {
    await sent
    return undefined
  } catch (error) {
    if (error instanceof OutgoingError || error instanceof ProviderRefusal) return error
    if (error instanceof Error && error.name === 'WorkerFault') return error
    throw error
  }
}

/** Asks about a grant again. Without an answer user info and scopes are left out, and the grant stays valid. */
async function askAbout(outgoing: Outgoing, blocks: Partial<Provider>): Promise<string | undefined> {
  const grant = { accessToken: 'SECRET-access', tokenType: 'bearer', account: { id: '', name: '' } }
  const client = clientAt('https://public.example/token', blocks)
  const asked = await oauth(outgoing).askAgain(client, grant)
  return asked?.userInfo === undefined && asked?.scopes === undefined ? 'left out' : undefined
}

const { publicKey, privateKey } = await generateKeyPair('ES256')
const ISSUER = 'https://issuer.example'

/** Logs in at an issuer that answers correctly, except at the endpoint that is given. */
async function logIn(
  outgoing: Outgoing,
  given: Partial<LoginRegistration['server']>,
): Promise<Error | undefined> {
  const server = {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    jwks_uri: `${ISSUER}/keys`,
    userinfo_endpoint: `${ISSUER}/userinfo`,
    authorization_response_iss_parameter_supported: false,
    ...given,
  }
  const id_token = await new SignJWT({ nonce: 'n' })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(ISSUER)
    .setAudience('id')
    .setSubject('ada')
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(privateKey)
  const answers: Readonly<Record<string, unknown>> = {
    '/token': { access_token: 'SECRET-access', token_type: 'bearer', id_token },
    '/keys': { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', use: 'sig' }] },
    '/userinfo': { sub: 'ada', email: 'ada@example.test' },
  }
  const reached: Outgoing = {
    ...outgoing,
    async send(request): Promise<OutgoingResponse> {
      const url = new URL(request.url)
      if (url.origin !== ISSUER) return outgoing.send(request)
      const headers = { 'content-type': 'application/json' }
      return { status: 200, headers, body: Buffer.from(JSON.stringify(answers[url.pathname])) }
    },
  }
  const login = {
    server,
    client: { clientId: 'id', clientSecret: 'SECRET-client' },
    redirectUri: 'https://gatepass.example/login/callback',
  }
  const response = new URLSearchParams({ code: 'SECRET-code', state: 's' })
  const secrets = { codeVerifier: 'SECRET-verifier-SECRET-verifier-SECRET-verifier', nonce: 'n' }
  return refusalOf(createLoginClient(reached).identify(login, response, secrets, ['email']))
}

function workerAt(uri: string): WorkerEndpoint {
  return { uri, issuer: 'https://gatepass.example', secret: 'SECRET-worker', timeoutSeconds: 60, retry: 0 }
}

export function clientAt(endpoint: string, blocks: Partial<Provider> = {}): RegisteredClient {
  const request = {
    endpoint,
    method: 'POST',
    params: {},
    authMethod: 'client_secret_basic',
    requestContentType: 'application/x-www-form-urlencoded',
    responseContentType: 'application/json',
  } as const
  return {
    client: { clientId: 'id', clientSecret: 'SECRET-client' },
    redirectUri: 'https://gatepass.example/callback/p',
    provider: {
      displayName: 'Demo',
      pkce: 'S256',
      scopeSeparator: ' ',
      defaultScopes: [],
      authorizationRequest: { endpoint: 'https://public.example/authorize', params: {} },
      tokenRequest: request,
      refreshRequest: request,
      revocationRequest: request,
      tokenTypes: [],
      account: { id: ['$.sub'], name: ['$.name'] },
      ...blocks,
    },
  }
}

function resource(endpoint: string): ResourceRequestBlock {
  return {
    endpoint,
    method: 'GET',
    params: {},
    authMethod: 'bearer_access_token',
    requestContentType: 'application/x-www-form-urlencoded',
    responseContentType: 'application/json',
    triggers: { onTokenGrant: true, onTokenRefresh: true },
  }
}
