import { expect, test } from 'vitest'
import { type Outgoing, OutgoingError } from '../../src/egress/outgoing.ts'
import { createDpopProofs } from '../../src/providers/dpop-proofs.ts'
import { revokeTokens } from '../../src/providers/revocation.ts'
import { clientAt } from '../threats/callers.ts'

/** A client whose requests get these statuses in turn; `undefined`: no response. */
function answering(statuses: readonly (number | undefined)[]): { outgoing: Outgoing; sent: string[] } {
  const sent: string[] = []
  const send: Outgoing['send'] = async ({ body }) => {
    const status = statuses[sent.length]
    sent.push(new URLSearchParams(String(body)).get('token_type_hint') ?? '')
    if (status === undefined) throw new OutgoingError('timeout', 'as.example', { requestSent: true })
    return { status, headers: {}, body: new Uint8Array() }
  }
  return { outgoing: { send } as Outgoing, sent } // `revokeTokens` uses nothing else
}

test.each<[string, readonly (number | undefined)[], string, number]>([
  ['both requests are answered', [200, 200], 'revoked', 2],
  ['the second is refused', [200, 400], 'revoked', 2],
  ['the second gets no response', [200, undefined], 'revoked', 2],
  ['the first is refused', [400, 200], 'failed', 2],
  ['the first gets no response', [undefined, 200], 'failed', 1],
])('the response to the first request decides: %s', async (_, statuses, outcome, requests) => {
  const { outgoing, sent } = answering(statuses)
  const tokens = { accessToken: 'at', refreshToken: 'rt' }
  const proven = { outgoing, proofs: createDpopProofs(() => 0) }
  expect(await revokeTokens(proven, clientAt('https://as.example/revoke'), tokens, 0)).toBe(outcome)
  expect(sent).toEqual(['refresh_token', 'access_token'].slice(0, requests))
})
