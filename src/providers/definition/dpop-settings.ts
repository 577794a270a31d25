import { z } from 'zod'
import { DPOP_ALGORITHMS } from '../dpop.ts'
import type { Provider } from '../provider.ts'
import { hasPlaceholder } from '../template.ts'
import { sameServer } from './known-server.ts'
import { memberOf } from './member.ts'
import { refuse } from './refuse.ts'
import type { OAuth2Context } from './requests.ts'

// Whether tokens are bound to a key of their connection.

const dpopInput = z
  .object({ algorithm: z.enum(DPOP_ALGORITHMS).optional(), optional: z.boolean().optional() })
  .nullish()
  .meta({
    description:
      'Beyond Arcade: tokens are bound to a key of their connection (DPoP, RFC 9449), so they are of use in `/proxy/{provider}` and in HTTP tools alone, and are handed out nowhere. `algorithm` is that of the proofs, ES256 by default. With `optional`, bearer tokens of the server are accepted, too. An issuer that announces DPoP does not switch it on.',
    example: { algorithm: 'ES256' },
  })

export const DPOP_MEMBERS = {
  dpop: memberOf<Provider, OAuth2Context>()({
    create: dpopInput,
    change: dpopInput,
    answer: z.object({ algorithm: z.enum(DPOP_ALGORITHMS), optional: z.literal(true).optional() }).optional(),
    read(sent, context) {
      if (sent === undefined) return { dpop: sameServer(context) ? context.base?.dpop : undefined }
      if (sent === null) return { dpop: undefined }
      const { algorithm = 'ES256', optional } = sent
      return { dpop: { algorithm, ...(optional === true && { optional }) } }
    },
    write: ({ dpop }) => dpop && { ...dpop },
  }),
}

/** Requests of which no standard says how they carry a proof, and other places for the token, do not go with DPoP. */
export function checkDpop({ dpop, exchangeRequest, renewalRequest, api }: Provider): void {
  if (dpop === undefined) return
  const other = exchangeRequest ? 'exchange_request' : renewalRequest && 'renewal_request'
  if (other !== undefined) refuse('oauth2.dpop', `cannot be used with ${other}: remove one of them by null`)
  const templates = Object.values(api?.headers ?? {})
  if (api?.authorization !== undefined || templates.some((text) => hasPlaceholder(text, 'access_token')))
    refuse(
      'oauth2.dpop',
      'cannot be used with an api that places the token: requests carry it as “Authorization: DPoP …” (RFC 9449 section 7.1)',
    )
}
