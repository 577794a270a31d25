import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Broker } from '../../broker.ts'
import type { Worker } from '../../domain/worker.ts'
import type { OutgoingResponse } from '../../egress/outgoing.ts'
import { askWorker } from '../worker-request.ts'
import { openWorkerSecret } from '../worker-secret.ts'

/** How an OXP server knows its caller: not at all, by the header `OXP-API-Key`, or by a JWT as bearer token (HS256). */
const OXP_AUTHENTICATIONS = ['none', 'api_key', 'jwt'] as const
export type OxpAuthentication = (typeof OXP_AUTHENTICATIONS)[number]

/** What an OXP worker's settings hold; its secret is the API key or the JWT's key. */
export interface OxpSettings {
  readonly auth: OxpAuthentication
  /** The `aud` of the JWT, where the server checks one. */
  readonly audience?: string
  /** Whether a call is the member `request` of its body, or the body itself as the newer text of OXP 1.0 has it. */
  readonly envelope: 'request' | 'none'
}

export function oxpSettings({ settings }: Pick<Worker, 'settings'>): OxpSettings {
  const { auth, audience, envelope } = settings
  return {
    auth: OXP_AUTHENTICATIONS.find((known) => known === auth) ?? 'none',
    ...(typeof audience === 'string' && { audience }),
    envelope: envelope === 'none' ? 'none' : 'request',
  }
}

export interface OxpQuestion {
  readonly path: 'health' | 'tools' | 'tools/call'
  /** With it the method is POST. */
  readonly body?: unknown
  /** For all attempts together. */
  readonly timeoutSeconds: number
  readonly isRepeatable?: boolean
  readonly signal?: AbortSignal
}

export interface OxpReply {
  readonly response: OutgoingResponse
  /** What the request was opened with: a server that echoes it must not hand it on. */
  readonly credentials: readonly string[]
}

/** OXP allows 15 minutes. */
const TOKEN_SECONDS = 60

/** The answer of any status but 3xx. Health is asked without a credential. Throws `WorkerFault`. */
export async function askOxpServer(
  broker: Broker,
  worker: Worker,
  { path, body, timeoutSeconds, isRepeatable = false, signal }: OxpQuestion,
): Promise<OxpReply> {
  const { auth, audience } = oxpSettings(worker)
  const secret = auth === 'none' || path === 'health' ? '' : openWorkerSecret(broker, worker)
  const credentials = secret === '' ? [] : [secret]
  const response = await askWorker(broker.outgoing, {
    url: `${worker.uri.replace(/\/+$/, '')}/${path}`,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json',
      'oxp-version': '1.0',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(secret !== '' && {
      async authorize() {
        if (auth === 'api_key') return { 'oxp-api-key': secret }
        const token = await signToken(secret, broker.settings.publicUrl.origin, audience)
        credentials.push(token)
        return { authorization: `Bearer ${token}` }
      },
    }),
    timeoutSeconds,
    retry: worker.retry,
    isRepeatable,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  return { response, credentials }
}

function signToken(secret: string, issuer: string, audience: string | undefined): Promise<string> {
  const token = new SignJWT()
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(issuer)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime(`${TOKEN_SECONDS} seconds`)
  return (audience === undefined ? token : token.setAudience(audience)).sign(new TextEncoder().encode(secret))
}
