import { createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Sealed } from '../../src/domain/sealed.ts'
import {
  createSealer,
  keyId,
  type SealingContext,
  UnknownKeyError,
  UnsealError,
} from '../../src/store/seal.ts'

const key = Buffer.alloc(32, 1)
const sealer = createSealer([key])
const place: SealingContext = {
  table: 'connections',
  column: 'access',
  rowId: 'conn_1',
  projectId: 'proj_1',
  userId: 'ada',
  providerUid: 'prov_1',
}
const SECRET = 'at_a-token-that-must-not-be-read'

/** An envelope of which one part, by its index, was changed. */
function altered(index: number, change: (part: string) => string): Sealed {
  const parts = sealer.seal(SECRET, place).split('.')
  parts[index] = change(parts[index] ?? '')
  return parts.join('.') as Sealed
}

/** The base64url text with one bit flipped. */
function flipped(part: string): string {
  const bytes = Buffer.from(part, 'base64url')
  bytes[0] = (bytes[0] ?? 0) ^ 1
  return bytes.toString('base64url')
}

describe('an envelope', () => {
  test.each(['', 'a token', '{"accessToken":"ü 漢字 🔑"}', 'x'.repeat(100_000)])(
    'opens where it was sealed',
    (text) => {
      expect(sealer.open(sealer.seal(text, place), place)).toBe(text)
    },
  )

  test('shows nothing of what is in it, and is another each time', () => {
    const first = sealer.seal(SECRET, place)
    expect(first).toMatch(/^v2\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]+\.[\w-]{22}$/)
    expect(first).not.toContain(SECRET)
    expect(first).not.toContain(Buffer.from(SECRET).toString('base64url').slice(0, 12))
    expect(sealer.seal(SECRET, place)).not.toBe(first)
  })

  test('has a nonce of its own, also beyond those that are drawn at once', () => {
    const nonces = Array.from({ length: 1_000 }, () => sealer.seal(SECRET, place).split('.')[2])
    expect(new Set(nonces).size).toBe(1_000)
  })

  test('each row has a key of its own, which opens no other row', () => {
    // the derivation that the envelope's description promises, made here without the code under test
    const tableKey = Buffer.from(hkdfSync('sha256', key, '', 'gatepass/table/connections', 32))
    const rowKey = (rowId: string) => createHmac('sha256', tableKey).update(rowId).digest()
    const open = (rowId: string) => {
      const [version, id, nonce = '', ciphertext = '', tag = ''] = sealer.seal(SECRET, place).split('.')
      const decipher = createDecipheriv('aes-256-gcm', rowKey(rowId), Buffer.from(nonce, 'base64url'))
      const { table, column, projectId, userId, providerUid } = place
      decipher.setAAD(
        Buffer.from(
          JSON.stringify([version, id, table, column, place.rowId, projectId, userId, providerUid]),
        ),
      )
      decipher.setAuthTag(Buffer.from(tag, 'base64url'))
      return decipher.update(ciphertext, 'base64url', 'utf8') + decipher.final('utf8')
    }
    expect(open(place.rowId)).toBe(SECRET)
    for (const other of ['', 'conn_2']) expect(() => open(other)).toThrow('authenticate')
  })

  test.each([
    ['version', altered(0, () => 'v3')],
    ['version, an older one', altered(0, () => 'v1')],
    ['form of the key id', altered(1, () => 'newest')],
    ['nonce', altered(2, flipped)],
    ['ciphertext', altered(3, flipped)],
    ['end of the ciphertext', altered(3, (part) => part.slice(0, -4))],
    ['tag', altered(4, flipped)],
    ...[4, 8, 12, 15].map((bytes): [string, Sealed] => [
      `tag, cut to ${bytes} bytes`,
      altered(4, (tag) => Buffer.from(tag, 'base64url').subarray(0, bytes).toString('base64url')),
    ]),
    ['tag, left out', altered(4, () => '')],
    ['number of parts', `${sealer.seal(SECRET, place)}.more` as Sealed],
    ['whole', 'plain text' as Sealed],
    ['whole, made empty', '' as Sealed],
  ])('with another %s does not open, and the error does not hold the secret', (_, envelope) => {
    const opening = () => sealer.open(envelope, place)
    expect(opening).toThrow(UnsealError)
    expect(opening).not.toThrow(SECRET)
  })

  test.each<Partial<SealingContext>>([
    { table: 'authorizations' },
    { column: 'refresh' },
    { rowId: 'conn_2' },
    { projectId: 'proj_2' },
    { userId: 'bob' },
    { providerUid: 'prov_2' },
  ])('moved to %o does not open', (elsewhere) => {
    const envelope = sealer.seal(SECRET, place)
    expect(() => sealer.open(envelope, { ...place, ...elsewhere })).toThrow(UnsealError)
  })

  // sealed once by the release of each version, with the key and for the place of this test
  test.each([
    [
      'v1, of 0.1.0',
      'v1.84d24bc9.EgTgtLkroAH1MDLo._qokfIKFHn8JKJLkGUB9lTNYJ88oY3yO3dFktFpN-ow.Kw8vJYwpJAsQxQ-1HhsRvg',
    ],
    ['v2', 'v2.84d24bc9.s-dofbCu9gBILKZN.2J6LbSrtP4I7LL2GnKSjy56XZgQ4KYqM1Gc6d8zr9IA.MvVPaNt7WdGh9E1kfN2lTA'],
  ])('of the version %s opens where it was sealed, and as no other version', (_, stored) => {
    expect(sealer.open(stored as Sealed, place)).toBe(SECRET)
    for (const elsewhere of [{ rowId: 'conn_2' }, { column: 'refresh' }, { projectId: 'proj_2' }])
      expect(() => sealer.open(stored as Sealed, { ...place, ...elsewhere })).toThrow(UnsealError)
    const other = stored.startsWith('v1') ? 'v2' : 'v1'
    expect(() => sealer.open(stored.replace(/^v./, other) as Sealed, place)).toThrow(UnsealError)
  })

  test('with a part of another row’s envelope does not open', () => {
    const other = sealer.seal(SECRET, { ...place, rowId: 'conn_2' }).split('.')
    for (const index of [2, 3, 4])
      expect(() =>
        sealer.open(
          altered(index, () => other[index] ?? ''),
          place,
        ),
      ).toThrow(UnsealError)
  })
})

describe('a key ring', () => {
  const older = Buffer.alloc(32, 2)

  test('opens what older keys sealed, and seals with the newest', () => {
    const before = createSealer([older]).seal(SECRET, place)
    const rotating = createSealer([key, older])
    expect(rotating.open(before, place)).toBe(SECRET)
    const now = rotating.seal(SECRET, place)
    expect(now.split('.')[1]).toBe(keyId(key))
    expect(createSealer([key]).open(now, place)).toBe(SECRET)
  })

  test('opens an envelope of an older version with its key, and seals it again in the version of today', () => {
    const before =
      'v1.84d24bc9.EgTgtLkroAH1MDLo._qokfIKFHn8JKJLkGUB9lTNYJ88oY3yO3dFktFpN-ow.Kw8vJYwpJAsQxQ-1HhsRvg' as Sealed
    const rotating = createSealer([older, key])
    expect(rotating.seal(rotating.open(before, place), place)).toMatch(`v2.${keyId(older)}.`)
  })

  test('without the key of an envelope names the id of the missing key, and nothing of the key itself', () => {
    const envelope = createSealer([older]).seal(SECRET, place)
    const opening = () => sealer.open(envelope, place)
    expect(opening).toThrow(UnknownKeyError)
    expect(opening).toThrow(expect.objectContaining({ code: 'store_unavailable', keyId: keyId(older) }))
    expect(opening).toThrow(keyId(older))
    expect(keyId(older)).not.toContain(older.toString('hex').slice(0, 8))
  })

  test('lists the ids of its keys, the one that seals first', () => {
    expect(createSealer([key, older]).keyIds).toEqual([keyId(key), keyId(older)])
  })

  test('does not open an envelope that names another key than the one that sealed it', () => {
    const rotating = createSealer([key, older])
    const parts = createSealer([older]).seal(SECRET, place).split('.')
    parts[1] = keyId(key)
    expect(() => rotating.open(parts.join('.') as Sealed, place)).toThrow(UnsealError)
  })
})
