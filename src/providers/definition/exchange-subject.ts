import { z } from 'zod'
import { invalidMember } from '../../domain/errors.ts'
import { type ExchangeSubject, type Provider, SUBJECT_TOKENS } from '../provider.ts'
import { refuse } from './refuse.ts'

// The token that an entry exchanges for its own (RFC 8693).

const PATH = 'oauth2.grant.subject'

export const subjectAnswer = z.object({ connection: z.string(), token: z.enum(SUBJECT_TOKENS) })

export const subjectInput = z
  .object({
    connection: z.string().min(1).max(100),
    token: z.enum(SUBJECT_TOKENS).default('access_token'),
  })
  .nullish()
  .meta({
    description:
      "With `token_exchange`: what is exchanged. `connection` is the id of another entry of the project, whose users' connections are used. Their token is sent to this entry's token endpoint, and nowhere else.",
    example: { connection: 'okta', token: 'access_token' },
  })

/** The subject that a request names. Throws `invalid_request` for one that cannot be exchanged, and for none. */
export function readSubject(sent: z.output<typeof subjectInput>): ExchangeSubject {
  if (sent == null)
    return refuse(PATH, 'is required with the grant token_exchange: the entry whose token is exchanged')
  if (sent.token === 'id_token')
    refuse(`${PATH}.token`, 'cannot be id_token: Gatepass keeps no ID tokens. Exchange the access_token')
  return { connection: sent.connection, token: sent.token }
}

/** Parameters that Gatepass sets; a `requested_token_type` may be chosen. */
const SET = ['subject_token', 'subject_token_type']

/** Refuses parameters of the token request that say which token is exchanged. */
export function checkExchange({ grant, tokenRequest }: Provider): void {
  if (grant?.type !== 'token_exchange') return
  for (const name of SET)
    if (tokenRequest !== undefined && Object.hasOwn(tokenRequest.params, name))
      throw invalidMember(
        `oauth2.token_request.params.${name}`,
        'conflict',
        `oauth2.token_request.params.${name} is set by Gatepass: oauth2.grant.subject says which token is exchanged.`,
      )
}
