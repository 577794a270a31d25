import { expect, test } from 'vitest'
import { refusedBecause } from '../../src/providers/refused-grant.ts'

test.each([
  ['The refresh token has expired due to inactivity.', 'expired'],
  ['AADSTS700082: The refresh token has expired due to inactivity.', 'expired'],
  ['token_expired', 'expired'],
  ['Token has been revoked by the user.', 'withdrawn'],
  ['token_revoked', 'withdrawn'],
  ['The app was uninstalled', 'withdrawn'],
  ['The refresh token was used before.', 'used_twice'],
  ['Refresh token was already used', 'used_twice'],
  ['refresh token reuse detected', 'used_twice'],
  // several reasons, or none
  ['Token has been expired or revoked.', undefined],
  ['Unknown or revoked refresh token.', undefined],
  ['The grant is invalid, expired, revoked', undefined],
  ['revoked or invalid refresh token', undefined],
  ['grant request is invalid', undefined],
  ['', undefined],
  [undefined, undefined],
] as const)('of %j: %s', (words, because) => {
  expect(refusedBecause(words)).toBe(because)
})
