import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { isRecord } from '../../parsing/json-record.ts'
import type { ElicitationModes } from '../../sdk/mcp/elicitation-modes.ts'
import type { Principal } from '../callers/principal.ts'
import { isLegacyVersion, type LegacyVersion } from './versions.ts'

// Sessions of clients of 2025 (MCP 2025-11-25, Transports, Session Management). The server stores nothing: the id
// itself is the sealed session, so every process reads it. It is no credential: each request brings its own
// credential.

/** The result of `initialize`, which later requests of the client do not repeat. */
export interface Session {
  readonly version: LegacyVersion
  readonly elicitation: ElicitationModes
}

/** Issues and reads session ids. */
export interface Sessions {
  /** Returns the value of `Mcp-Session-Id`. It is readable by this principal's requests only, for a week. */
  issue(session: Session, principal: Principal): string
  /** Returns `undefined` for an id that was altered, has expired, or was issued to another principal. */
  open(id: string, principal: Principal): Session | undefined
}

const LIFETIME_SECONDS = 7 * 24 * 3600
/** A longer id was not issued here. */
const MAX_LENGTH = 1_000
const IV_BYTES = 12
const TAG_BYTES = 16

/** AES-256-GCM; the principal is the associated data. */
export function createSessions({ deriveKey, now }: Pick<Broker, 'deriveKey' | 'now'>): Sessions {
  const key = deriveKey('mcp session')
  return {
    issue({ version, elicitation: { form, url } }, { identity }) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
      cipher.setAAD(Buffer.from(identity))
      const content: Content = { version, form, url, exp: now() + LIFETIME_SECONDS }
      const sealed = Buffer.concat([cipher.update(JSON.stringify(content)), cipher.final()])
      return Buffer.concat([iv, sealed, cipher.getAuthTag()]).toString('base64url')
    },

    open(id, { identity }) {
      if (id.length > MAX_LENGTH) return undefined
      const bytes = Buffer.from(id, 'base64url')
      // the decoder skips characters that are not of its alphabet, so two texts could be the same session
      if (bytes.length <= IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== id) return undefined
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), {
          authTagLength: TAG_BYTES,
        })
        decipher.setAAD(Buffer.from(identity))
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
        const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)).toString() + decipher.final('utf8')
        return read(JSON.parse(text), now())
      } catch {
        return undefined // the tag does not match
      }
    },
  }
}

interface Content {
  readonly version: string
  readonly form: boolean
  readonly url: boolean
  readonly exp: EpochSeconds
}

function read(content: unknown, now: EpochSeconds): Session | undefined {
  if (!isRecord(content)) return undefined
  const { version, form, url, exp } = content
  if (typeof exp !== 'number' || exp <= now || !isLegacyVersion(version)) return undefined
  return { version, elicitation: { form: form === true, url: url === true } }
}
