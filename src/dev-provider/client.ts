import { createHash, timingSafeEqual } from 'node:crypto'
import type { Config } from '../config.ts'
import { deriveKey } from './keys.ts'
import type { Parameters } from './parameters.ts'

/** The only registered client: the broker. */
export const SANDBOX_CLIENT_ID = 'gatepass-sandbox'

/** The broker's client secret, derived from a 32-byte key. */
export function sandboxClientSecret(key: Buffer): string {
  return deriveKey(key, 'client secret').toString('base64url')
}

/** The settings with the broker's client at the sandbox, so that the sandbox's provider entry needs no client. */
export function withSandboxClient(config: Config): Config {
  const [key] = config.masterKeys
  const client = {
    clientId: SANDBOX_CLIENT_ID,
    clientSecret: sandboxClientSecret(key),
    below: `${config.publicUrl.origin}/sandbox/`,
  }
  return {
    ...config,
    providerClients: new Map([['GATEPASS_PROVIDER_SANDBOX', client], ...config.providerClients]),
  }
}

export type ClientAuthentication = 'authenticated' | 'refused' | 'both-methods'

/** Authenticates the client by HTTP Basic or by the body, never both (RFC 6749 section 2.3.1). */
export function authenticateClient(
  header: string | undefined,
  { values }: Parameters,
  clientSecret: string,
): ClientAuthentication {
  if (header !== undefined && values.client_secret !== undefined) return 'both-methods'
  const { id, secret } =
    header === undefined ? { id: values.client_id, secret: values.client_secret } : readBasic(header)
  const isClient = id === SANDBOX_CLIENT_ID && isSame(secret ?? '', clientSecret)
  return isClient ? 'authenticated' : 'refused'
}

interface Credentials {
  readonly id?: string | undefined
  readonly secret?: string | undefined
}

function readBasic(header: string): Credentials {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(header)?.[1] ?? ''
  const [id, secret, ...rest] = Buffer.from(encoded, 'base64').toString().split(':')
  return rest.length > 0 ? {} : { id: formDecode(id), secret: formDecode(secret) }
}

function formDecode(text: string | undefined): string | undefined {
  return text === undefined ? undefined : (new URLSearchParams(`v=${text}`).get('v') ?? undefined)
}

function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
