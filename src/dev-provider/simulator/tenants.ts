import { fitsPattern } from '../../providers/callback-members.ts'
import { json, keptIn, userInfoAnswer } from './answers.ts'
import { RequestFault } from './check-request.ts'
import type { SimulatedOAuth2, SimulatedResponse } from './definition.ts'
import { place } from './place-members.ts'

// The list of the tenants of a user, as `choices_request` says where the broker reads it.

/** Names of the tenants that may be listed. */
export const TENANT_NAMES = ['Simulated Acme', 'Simulated Globex'] as const

export interface SimulatedTenant {
  readonly id: string
  readonly name: string
  /** The kept values, by their places. */
  readonly kept: Readonly<Record<string, string>>
}

/** The first tenants of the user; all differ in their id, and in their values where the patterns let them. */
export function tenantsOf(oauth2: SimulatedOAuth2, count: number): readonly SimulatedTenant[] {
  const { choices_request: block, kept_values: declared = {} } = oauth2
  if (block === undefined) throw new RequestFault('is not in the definition')
  return TENANT_NAMES.slice(0, count).map((name, at) => {
    const first = keptIn(oauth2, 'choice')
    const kept = Object.fromEntries(
      Object.entries(first).map(([where, text]) => {
        const patterns = Object.values(declared).flatMap(({ from, at: place, pattern }) =>
          from === 'choice' && place === where && pattern !== undefined ? [pattern] : [],
        )
        return [where, at === 0 ? text : otherText(text, patterns)]
      }),
    )
    return { id: kept[block.id] ?? `simulated-tenant-${at + 1}`, name, kept }
  })
}

/** Another text that all patterns allow, or the same. */
function otherText(text: string, patterns: readonly string[]): string {
  for (let at = text.length - 1; at >= 0; at--)
    for (const letter of '7b') {
      const other = text.slice(0, at) + letter + text.slice(at + 1)
      if (other !== text && patterns.every((pattern) => fitsPattern(pattern, other))) return other
    }
  return text
}

/** The list, in the answer to the request for user info where both go to one endpoint. */
export function tenantsAnswer(oauth2: SimulatedOAuth2, count: number): SimulatedResponse {
  const { choices_request: block, user_info_request: userInfo } = oauth2
  if (block === undefined) throw new RequestFault('is not in the definition')
  const items = tenantsOf(oauth2, count).map(({ id, name, kept }) => {
    const item: Record<string, unknown> = {}
    place(item, block.id, id)
    place(item, block.name, name)
    if (block.detail !== undefined) place(item, block.detail, `https://${id}.simulated.example`)
    for (const [where, text] of Object.entries(kept)) place(item, where, text)
    return item
  })
  if (block.at === '$.items') return json(200, items)
  const body: Record<string, unknown> =
    userInfo?.endpoint === block.endpoint ? { ...userInfoAnswer(oauth2, userInfo) } : {}
  place(body, block.at, items)
  return json(200, body)
}
