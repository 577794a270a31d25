import { unionOfScopes } from './scopes.ts'
import type { Tool } from './tool.ts'

/** The providers, scopes and secrets that a worker's tools declare. */
export interface WorkerNeeds {
  /** Scopes by the name in the requirement, in lower case: an entry's id or a well-known `provider_id`. */
  readonly providers: Readonly<Record<string, readonly string[]>>
  /** Keys, in lower case. */
  readonly secrets: readonly string[]
}

export const NO_NEEDS: WorkerNeeds = { providers: {}, secrets: [] }

/** What these tools declare. A token for the worker's own server is not included: it gives access to nothing else. */
export function needsOf(tools: Iterable<Pick<Tool, 'requirements'>>): WorkerNeeds {
  const providers = new Map<string, Set<string>>()
  const keys = new Set<string>()
  for (const { requirements } of tools) {
    const { authorization, alternatives, secrets } = requirements
    for (const { use, id, providerId, scopes } of alternatives === undefined
      ? authorization
      : [...authorization, ...alternatives.flat()]) {
      if (use === 'server') continue
      const name = (id ?? providerId ?? '').toLowerCase()
      const known = providers.get(name) ?? new Set()
      providers.set(name, known)
      for (const scope of scopes) known.add(scope)
    }
    for (const key of secrets) keys.add(key.toLowerCase())
  }
  return {
    providers: Object.fromEntries(
      [...providers.keys()].sort().map((name) => [name, [...(providers.get(name) ?? [])].sort()]),
    ),
    secrets: [...keys].sort(),
  }
}

/** Everything that either of the two declares. */
export function unionOfNeeds(one: WorkerNeeds, other: WorkerNeeds): WorkerNeeds {
  const names = [...new Set([...Object.keys(one.providers), ...Object.keys(other.providers)])].sort()
  return {
    providers: Object.fromEntries(
      names.map((name) => [name, unionOfScopes(scopesOf(one, name), scopesOf(other, name)).sort()]),
    ),
    secrets: [...new Set([...one.secrets, ...other.secrets])].sort(),
  }
}

/** The part of `needs` that was not accepted. */
export function unacceptedNeeds(needs: WorkerNeeds, accepted: WorkerNeeds): WorkerNeeds {
  const providers = Object.entries(needs.providers).flatMap(([name, scopes]) => {
    const isNew = !Object.hasOwn(accepted.providers, name)
    const more = scopes.filter((scope) => !scopesOf(accepted, name).includes(scope))
    return isNew || more.length > 0 ? [[name, more] as const] : []
  })
  return {
    providers: Object.fromEntries(providers),
    secrets: needs.secrets.filter((key) => !accepted.secrets.includes(key)),
  }
}

/** The most names in one list; further ones are left out. */
const MOST_NAMES = 500

/** What `needs` name and `others` do not, as a flat list: `provider:github`, `scope:github:repo`, `secret:api_key`. */
export function namesBeyond(needs: WorkerNeeds, others: WorkerNeeds): string[] {
  const known = new Set(namesOf(others))
  return namesOf(needs)
    .filter((name) => !known.has(name))
    .slice(0, MOST_NAMES)
}

function namesOf({ providers, secrets }: WorkerNeeds): string[] {
  const ofProviders = Object.entries(providers).flatMap(([name, scopes]) => [
    `provider:${name}`,
    ...scopes.map((scope) => `scope:${name}:${scope}`),
  ])
  return [...ofProviders, ...secrets.map((key) => `secret:${key}`)]
}

export function needsNothing({ providers, secrets }: WorkerNeeds): boolean {
  return Object.keys(providers).length === 0 && secrets.length === 0
}

function scopesOf({ providers }: WorkerNeeds, name: string): readonly string[] {
  return Object.hasOwn(providers, name) ? (providers[name] ?? []) : []
}
