/**
 * The scopes with their text on the consent page. There are two, so that consent can be partial. Providers of the
 * catalogue have the same sentences, so translations of them exist.
 */
export const SCOPES: Readonly<Record<string, string>> = {
  'profile:read': 'See your name and email address',
  'profile:write': 'Change your profile',
}

/** The scope of a request that names none (RFC 6749 section 3.3). */
export const DEFAULT_SCOPE = 'profile:read'
