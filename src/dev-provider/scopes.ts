/** What can be asked for, and how the consent page says it. Two, so that consent can be partial. */
export const SCOPES: Readonly<Record<string, string>> = {
  'profile:read': 'See your name and e-mail address',
  'profile:write': 'Change your profile',
}

/** What is asked for when the request does not say (RFC 6749 section 3.3). */
export const DEFAULT_SCOPE = 'profile:read'
