import { z } from '@hono/zod-openapi'
import { patternFault } from '../providers/callback-members.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { Provider } from '../providers/provider.ts'

// How a server names scopes, and what its authorization responses tell: from the wire and back.

const scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,300}$/, 'one scope, without spaces')
const MOST = 200

export const traitsSchema = {
  scope_implies: z
    .record(scope, z.array(scope).max(MOST))
    .refine((record) => Object.keys(record).length <= MOST, `at most ${MOST} members`)
    .nullish()
    .openapi({
      description:
        "Beyond Arcade: a scope and those it includes, for servers that list only the widest of what they granted (GitHub lists `repo` and not `public_repo`). Left out: as the catalogue has it. `null`: back to the catalogue's.",
      example: { repo: ['public_repo'] },
    }),
  scope_aliases: z
    .record(scope, scope)
    .refine((record) => Object.keys(record).length <= MOST, `at most ${MOST} members`)
    .nullish()
    .openapi({
      description:
        "Beyond Arcade: scopes that the server lists by another name than they are asked by. `null`: back to the catalogue's.",
      example: { email: 'https://www.googleapis.com/auth/userinfo.email' },
    }),
  callback_tells_scopes: z.boolean().nullish().openapi({
    description:
      'Beyond Arcade: the token response names no scopes and the authorization response does (Strava). It comes through the browser, so its user can hide scopes of the token from policies; it never adds any. Elsewhere what was asked for counts as granted.',
  }),
  callback_members: z
    .record(z.string().regex(/^[\w.-]{1,64}$/, 'letters, digits, _ . -'), z.string())
    .refine((record) => Object.keys(record).length <= 20, 'at most 20 members')
    .superRefine((record, context) => {
      for (const [name, pattern] of Object.entries(record)) {
        const fault = patternFault(pattern)
        if (fault !== undefined) context.addIssue({ code: 'custom', path: [name], message: fault })
      }
    })
    .nullish()
    .openapi({
      description:
        "Beyond Arcade: parameters of the authorization response that tools are given in `extra`, each with a regular expression that the whole value must match. They come through the browser: let through what cannot do harm, such as digits, and of hosts only those that are the provider's.",
      example: { realmId: '[0-9]{1,20}' },
    }),
}

export const traitsWire = {
  scope_implies: z.record(z.string(), z.array(z.string())).optional(),
  scope_aliases: z.record(z.string(), z.string()).optional(),
  callback_tells_scopes: z.boolean().optional(),
  callback_members: z.record(z.string(), z.string()).optional(),
}

type Said = z.infer<z.ZodObject<typeof traitsSchema>>
type Traits = Pick<Provider, 'scopeImplies' | 'scopeAliases' | 'callbackTellsScopes' | 'callbackMembers'>

/** What is left out stays; `null` takes the entry's own word away. What is known of one server says nothing of another. */
export function changedTraits(said: Said, base: Traits | undefined, sameServer: boolean): Traits {
  const before = sameServer && base !== undefined ? base : {}
  const traits = {
    scopeImplies: said.scope_implies === undefined ? before.scopeImplies : said.scope_implies,
    scopeAliases: said.scope_aliases === undefined ? before.scopeAliases : said.scope_aliases,
    callbackTellsScopes:
      said.callback_tells_scopes === undefined ? before.callbackTellsScopes : said.callback_tells_scopes,
    callbackMembers: said.callback_members === undefined ? before.callbackMembers : said.callback_members,
  }
  return Object.fromEntries(Object.entries(traits).filter(([, value]) => value != null))
}

/** As they are in force, the catalogue's among them. */
export function traitsToWire(provider: Provider) {
  const { scopeImplies, scopeAliases, callbackTellsScopes, callbackMembers } = factsOf(provider)
  return {
    ...(scopeImplies !== undefined && {
      scope_implies: Object.fromEntries(Object.entries(scopeImplies).map(([one, all]) => [one, [...all]])),
    }),
    ...(scopeAliases !== undefined && { scope_aliases: { ...scopeAliases } }),
    ...(callbackTellsScopes !== undefined && { callback_tells_scopes: callbackTellsScopes }),
    ...(callbackMembers !== undefined && { callback_members: { ...callbackMembers } }),
  }
}
