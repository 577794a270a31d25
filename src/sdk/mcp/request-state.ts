// The `requestState` of a call that waits for the client's answers (MCP 2026-07-28). The client carries it between two
// requests and must neither read nor change it: it holds the answers of earlier rounds and values that `step` kept.

import { fromBase64Url, toBase64Url } from '../base64-url.ts'

export interface StateCodec {
  /** Encrypts a JSON value. Only `open` with an equal `binding` decrypts it. */
  seal(value: unknown, binding: readonly unknown[]): Promise<string>
  /** Returns `undefined` for a state that was changed, has expired, or was sealed with another binding. */
  open(state: string, binding: readonly unknown[]): Promise<unknown>
}

/** How long a client may take for one round. */
export const STATE_SECONDS = 600
const VERSION = 'v1'
const IV_BYTES = 12
const MIN_SECRET_LENGTH = 32

/**
 * Encrypts with AES-256-GCM; the binding is the associated data. Without a secret the key is random, so only the
 * process that sealed a state can open it. Throws `TypeError` for a secret of less than 32 characters.
 */
export function createStateCodec(secret: string | undefined, now: () => number = Date.now): StateCodec {
  if (secret !== undefined && secret.length < MIN_SECRET_LENGTH)
    throw new TypeError(`stateSecret must have at least ${MIN_SECRET_LENGTH} characters.`)
  let key: Promise<CryptoKey> | undefined
  const getKey = () => {
    key ??= stateKey(secret)
    return key
  }
  return {
    async seal(value, binding) {
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
      const text = JSON.stringify({ exp: now() + STATE_SECONDS * 1000, value })
      const sealed = await crypto.subtle.encrypt(
        { name: 'AES-GCM', iv, additionalData: bytesOf(binding) },
        await getKey(),
        new TextEncoder().encode(text),
      )
      return `${VERSION}.${toBase64Url(iv)}.${toBase64Url(new Uint8Array(sealed))}`
    },

    async open(state, binding) {
      const [version, iv = '', sealed = '', ...more] = state.split('.')
      if (version !== VERSION || more.length > 0) return undefined
      try {
        const opened = await crypto.subtle.decrypt(
          { name: 'AES-GCM', iv: fromBase64Url(iv), additionalData: bytesOf(binding) },
          await getKey(),
          fromBase64Url(sealed),
        )
        const { exp, value } = JSON.parse(new TextDecoder().decode(opened))
        return exp > now() ? value : undefined
      } catch {
        return undefined
      }
    },
  }
}

async function stateKey(secret: string | undefined): Promise<CryptoKey> {
  const bytes =
    secret === undefined ? crypto.getRandomValues(new Uint8Array(32)) : new TextEncoder().encode(secret)
  const material = await crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveKey'])
  return crypto.subtle.deriveKey(
    {
      name: 'HKDF',
      hash: 'SHA-256',
      salt: new Uint8Array(),
      info: new TextEncoder().encode('gatepass mcp request state'),
    },
    material,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt', 'decrypt'],
  )
}

/** Serializes the binding with sorted members, because a client may repeat the arguments in another order. */
function bytesOf(binding: readonly unknown[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(binding, sortedMembers))
}

function sortedMembers(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
