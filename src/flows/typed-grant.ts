import type { Grant } from '../providers/grant.ts'

// The grant of typed credentials, or of a device code, takes the place of the code in an authorization response: it is sealed as that one is
// while the caller's page confirms the user. No browser sends such a response.

const PARAMETER = 'grant'

export function responseOf(grant: Grant): URLSearchParams {
  return new URLSearchParams({ [PARAMETER]: JSON.stringify(grant) })
}

export function typedGrant(response: URLSearchParams): Grant {
  return JSON.parse(response.get(PARAMETER) ?? '{}') as Grant // `responseOf` made it
}
