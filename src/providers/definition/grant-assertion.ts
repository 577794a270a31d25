import { z } from 'zod'
import { invalidMember } from '../../domain/errors.ts'
import { patternFault } from '../callback-members.ts'
import { ASSERTION_ALGORITHMS, type GrantAssertion } from '../client-auth-method.ts'
import { makesAssertions, signsGrants } from '../client-key.ts'
import { backdatedSeconds, USUAL_ASSERTION } from '../grant-assertion.ts'
import type { Provider } from '../provider.ts'
import { checkTemplate, hasPlaceholder } from '../template.ts'
import {
  assertionAnswer,
  assertionInput,
  ownVariables,
  readAssertion,
  writeClientAssertion,
} from './client-assertion.ts'
import { memberOf } from './member.ts'
import { refuse } from './refuse.ts'
import type { OAuth2Context } from './requests.ts'

// The assertion of the grant `jwt_bearer` (RFC 7523 section 2.1), and the users in whose name it may ask.

const member = memberOf<Provider, OAuth2Context>()
const claims = z.record(z.string().min(1).max(100), z.union([z.string().max(1000), z.number(), z.boolean()]))

const grantAssertionInput = assertionInput
  .extend({
    subject: z.string().max(1000).nullish(),
    audience: z.string().max(1000).nullish(),
    claims: claims.refine((all) => Object.keys(all).length <= 20, 'at most 20 claims').nullish(),
  })
  .nullish()
  .meta({
    description:
      'Beyond Arcade: the JWT of the grants `jwt_bearer` and `installation`, made for each token request. `client_secret` is its key: a private key in PEM or as a JWK; with `installation` it is the client secret, which is sent for a code, and after it the private key in PEM. The members are those of `client_assertion`, with a `lifetime` of 300 seconds by default and at least 40 (with `installation` 70), since `iat` is 30 (60) seconds before the request; an empty `subject` or `audience` leaves `sub` or `aud` out. `claims` are further claims: texts may name `{{client_id}}`, variables and `{{scopes}}`, which are then not sent as `scope`.',
    example: {
      algorithm: 'RS256',
      subject: '',
      audience: 'https://oauth2.googleapis.com/token',
      claims: { scope: '{{scopes}}' },
    },
  })

const impersonationInput = z
  .object({ pattern: z.string().min(1).max(300) })
  .nullish()
  .meta({
    description:
      "Beyond Arcade: with `jwt_bearer` the client asks for a token in the name of each user. `subject` of `assertion` then names `{{user_id}}`. `pattern` is a regular expression (RE2) that the user's whole id must match; others are refused.",
    example: { pattern: '[a-z.]+@acme\\.com' },
  })

export const ASSERTION_SETTINGS = {
  assertion: member({
    create: grantAssertionInput,
    change: grantAssertionInput,
    answer: assertionAnswer
      .extend({ algorithm: z.enum(ASSERTION_ALGORITHMS), claims: claims.optional() })
      .optional(),
    read: (sent, { base, read }) => ({
      assertion: sent === undefined ? whereSigned(read, base?.assertion) : readGrantAssertion(sent),
    }),
    write: ({ assertion }) => assertion && writeGrantAssertion(assertion),
  }),
  impersonation: member({
    create: impersonationInput,
    change: impersonationInput,
    answer: z.object({ pattern: z.string() }).optional(),
    read: (sent, { base, read }) => ({
      impersonation: sent === undefined ? whereSigned(read, base?.impersonation) : (sent ?? undefined),
    }),
    write: ({ impersonation }) => impersonation && { ...impersonation },
  }),
}

/** A setting that stays only while the grant is one by assertion. */
function whereSigned<Setting>(read: OAuth2Context['read'], setting: Setting): Setting | undefined {
  return makesAssertions(read) ? setting : undefined
}

function readGrantAssertion(sent: z.output<typeof grantAssertionInput>): GrantAssertion | undefined {
  if (sent == null) return undefined
  const read = readAssertion(sent, USUAL_ASSERTION.lifetimeSeconds)
  return sent.claims == null ? read : { ...read, claims: sent.claims }
}

function writeGrantAssertion({ claims: all, ...assertion }: GrantAssertion) {
  return { ...writeClientAssertion(assertion), ...(all && { claims: { ...all } }) }
}

/** The least time that an assertion is valid after it was made. */
const SHORTEST_USE_SECONDS = 10

/** The claims that Gatepass sets. */
const SET = ['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti']

/** Refuses an assertion that could not be made, or that would name users without a pattern. */
export function checkGrantAssertion(provider: Provider): void {
  const { assertion, impersonation } = provider
  const uses = { assertion: makesAssertions(provider), impersonation: signsGrants(provider) }
  for (const [name, value] of Object.entries({ assertion, impersonation }))
    if (value !== undefined && !uses[name as keyof typeof uses])
      throw invalidMember(
        `oauth2.${name}`,
        'conflict',
        `oauth2.${name} has no use without the grant jwt_bearer${name === 'assertion' ? ' or installation' : ''}; null removes it.`,
      )
  const { claims: all = {}, ...own } = writeGrantAssertion(assertion ?? USUAL_ASSERTION)
  if (own.algorithm.startsWith('HS'))
    refuse('oauth2.assertion.algorithm', 'has to be one that signs with a private key')
  const backdated = backdatedSeconds(provider)
  if (makesAssertions(provider) && own.lifetime < backdated + SHORTEST_USE_SECONDS)
    refuse(
      'oauth2.assertion.lifetime',
      `has to be at least ${backdated + SHORTEST_USE_SECONDS}: with this grant, iat is ${backdated} seconds before the request`,
    )
  const placeholders = ['client_id', ...ownVariables(provider)]
  const mayName = (name: string) =>
    name === 'subject' && impersonation !== undefined ? [...placeholders, 'user_id'] : placeholders
  for (const [name, text] of Object.entries(own)) {
    const fault = typeof text === 'string' ? checkTemplate(text, mayName(name)) : undefined
    if (fault !== undefined) refuse(`oauth2.assertion.${name}`, fault)
  }
  for (const [name, value] of Object.entries(all)) {
    const fault = typeof value === 'string' ? checkTemplate(value, [...placeholders, 'scopes']) : undefined
    if (fault !== undefined) refuse(`oauth2.assertion.claims.${name}`, fault)
    if (SET.includes(name)) refuse(`oauth2.assertion.claims.${name}`, 'is set by Gatepass')
  }
  if (impersonation === undefined) return
  const fault = patternFault(impersonation.pattern)
  if (fault !== undefined) refuse('oauth2.impersonation.pattern', fault)
  if (!hasPlaceholder(assertion?.subject ?? '', 'user_id'))
    refuse('oauth2.assertion.subject', 'has to name {{user_id}} with oauth2.impersonation')
}
