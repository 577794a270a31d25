import { createHmac, timingSafeEqual } from 'node:crypto'
import type { AdapterPayload } from 'oidc-provider'
import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { randomToken, sha256 } from '../../domain/ids.ts'
import { sealingContext } from '../../store/protected-tables.ts'
import { servedRequest } from './served-request.ts'

// The refresh tokens of MCP clients. Each use of one replaces it. All that descend from one code are a family with one
// row: the first is `<family>`, and the n-th after it `<family>.<n>.<MAC>`, under a secret of the row. So the successor
// of a token is always the same, whichever process is asked and how often, and a token that was used long ago is still
// recognised, although nothing is stored of it.

const MODEL = 'RefreshToken'
/**
 * How long a used refresh token may be used again: processes of one client may refresh with the same token
 * simultaneously, and a response may be lost. A use after this time means that the token was stolen.
 */
const GRACE_SECONDS = 120
/** The most tokens of a family that are in this time at once. Of more, the oldest counts as used long ago. */
const MAX_IN_GRACE = 32

interface Family {
  readonly secret: string
  /** The number of the token that has not been used. */
  readonly current: number
  /** The payload of that token. */
  readonly payload: AdapterPayload
  /** Tokens that may be used again, and when they were first used. */
  readonly used: readonly (readonly [number: number, at: EpochSeconds])[]
}

export interface RefreshTokens {
  /** Stores a token: the first of a family, or the successor of the token of the request. */
  put(value: string, payload: AdapterPayload, seconds: number | undefined): Promise<void>
  /** The token's payload, with `consumed` if it was used and must not be used again. */
  find(value: string): Promise<AdapterPayload | undefined>
  /** Makes the token's successor the next token that the request stores (`ServedRequest.successor`). */
  use(value: string): Promise<void>
  /** Deletes the whole family. */
  delete(value: string): Promise<void>
}

export function refreshTokens({
  store: { mcpRecords },
  sealer,
  now,
}: Pick<Broker, 'store' | 'sealer' | 'now'>): RefreshTokens {
  const contextOf = (id: string) => sealingContext('mcpRecords', 'payload', { model: MODEL, id })
  const inGrace = ({ used }: Family) => used.filter(([, at]) => now() < at + GRACE_SECONDS)

  async function familyOf(name: string) {
    const row = await mcpRecords.find(MODEL, sha256(name), now())
    if (row === undefined) return undefined
    const family: Family = JSON.parse(sealer.open(row.payload, contextOf(row.id))) // only this file seals the column
    return { row, family }
  }

  function record(name: string, family: Family, seconds: number | undefined) {
    const id = sha256(name)
    const { grantId } = family.payload
    return {
      model: MODEL,
      id,
      payload: sealer.seal(JSON.stringify(family), contextOf(id)),
      grantId,
      ...(seconds !== undefined && { expiresAt: now() + seconds }),
    }
  }

  return {
    async put(value, payload, seconds) {
      const { name, number } = partsOf(value)
      if (number === 0)
        return mcpRecords.put(record(name, { secret: randomToken(), current: 0, payload, used: [] }, seconds))
      for (;;) {
        const found = await familyOf(name)
        // another request has stored this successor, or the grant has ended
        if (found === undefined || found.family.current >= number) return
        const used = [...inGrace(found.family), [number - 1, now()] as const].slice(-MAX_IN_GRACE)
        const next = { secret: found.family.secret, current: number, payload, used }
        if (await mcpRecords.replace(record(name, next, seconds), found.row.payload)) return
      }
    },

    async find(value) {
      const token = partsOf(value)
      const { family } = (await familyOf(token.name)) ?? {}
      if (family === undefined || !isOfFamily(token, family)) return undefined
      const isUsable =
        token.number === family.current || inGrace(family).some(([number]) => number === token.number)
      return { ...family.payload, jti: value, ...(!isUsable && { consumed: true }) }
    },

    async use(value) {
      const { name, number } = partsOf(value)
      const { family } = (await familyOf(name)) ?? {}
      const request = servedRequest()
      if (family === undefined || request === undefined)
        throw new Error('a refresh token is used that was not found')
      request.successor = `${name}.${number + 1}.${macOf(number + 1, family)}`
    },

    async delete(value) {
      await mcpRecords.delete(MODEL, sha256(partsOf(value).name))
    },
  }
}

interface Parts {
  /** The name of the family, which is its first token. */
  readonly name: string
  readonly number: number
  readonly mac: string
}

function partsOf(value: string): Parts {
  const [name = '', number = '0', mac = ''] = value.split('.')
  return { name, number: /^\d{1,9}$/.test(number) ? Number(number) : Number.NaN, mac }
}

function isOfFamily({ number, mac }: Parts, family: Family): boolean {
  if (!(number <= family.current)) return false
  return number === 0 ? mac === '' : isEqual(mac, macOf(number, family))
}

function macOf(number: number, { secret }: Family): string {
  return createHmac('sha256', secret).update(String(number)).digest('base64url')
}

function isEqual(given: string, expected: string): boolean {
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
}
