import type { AccessSecrets } from '../src/domain/connection.ts'
import { sha256 } from '../src/domain/ids.ts'
import { isQuick } from './pace.ts'

// The users of the seeded database, the requests for them, and the answers.

export const USERS = isQuick ? 2_000 : 10_000
export const EXPIRED_USERS = 5
export const USERS_WITH_AT = 1_000
export const API_KEY = 'bench-administrator-key'
export const PROVIDER_ID = 'bench'
export const SCOPES = ['read:user', 'repo'] as const

export function userName(index: number): string {
  return `user-${String(index).padStart(7, '0')}@example.com`
}

export function expiredUser(index: number): string {
  return `expired-${index}@example.com`
}

/** Users whose tokens hold an `@`, unlike most tokens: scrubbing searches for such a token in more forms. */
export function userWithAt(index: number): string {
  return `at-${index}@example.com`
}

/** A token of 500 characters. Only the tokens of `userWithAt` hold more than letters, digits, `_` and `-`. */
export function accessToken(userId: string): string {
  const name = userId.startsWith('at-') ? userId : userId.replace('@', '-').replace('.', '-')
  return `gho_${name.padEnd(496, 'x')}`
}

/** A 500-byte access token and some 400 bytes of user info: with the refresh token, sealed, a row of about 2 kB. */
export function accessSecrets(userId: string): AccessSecrets {
  const digest = sha256(userId)
  return {
    accessToken: accessToken(userId),
    userInfo: {
      sub: digest,
      login: userId.split('@')[0],
      name: 'Ada Augusta King, Countess of Lovelace',
      email: userId,
      email_verified: true,
      picture: `https://avatars.example.com/u/${digest}?v=4&s=256`,
      profile: `https://example.com/people/${digest}`,
      locale: 'en-GB',
      zoneinfo: 'Europe/London',
      company: 'Analytical Engines Ltd',
    },
  }
}

/** The user info in `releasedAnswer`. It is the same for every user, so that the bare server computes no hash. */
const { userInfo: USER_INFO } = accessSecrets(userName(0))

/** An answer of the size and shape of a fetch for a user whose connection covers the scopes. */
export function releasedAnswer(userId: string) {
  return {
    id: 'conn_0198f6e2a1c97d3fb2a45d1c7e9f0a31',
    status: 'completed',
    user_id: userId,
    provider_id: PROVIDER_ID,
    scopes: SCOPES,
    context: { token: accessToken(userId), user_info: USER_INFO },
  }
}

export function authorizeBody(userId: string): object {
  return {
    auth_requirement: { provider_id: PROVIDER_ID, provider_type: 'oauth2', oauth2: { scopes: SCOPES } },
    user_id: userId,
  }
}
