import { z } from 'zod'
import { patternFault } from '../callback-members.ts'
import type { Provider } from '../provider.ts'
import { sameServer } from './known-server.ts'
import { memberOf } from './member.ts'
import type { OAuth2Context } from './requests.ts'

// How a server names scopes, and which parameters of its authorization responses are used. Answers show the settings in
// force, since the view has those of the catalogue too; a request stores only what it says itself.

const MAX_MEMBERS = 200
const scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,300}$/, 'one scope, without spaces')

type Setting =
  | 'scopeImplies'
  | 'scopeAliases'
  | 'keepsEarlierGrants'
  | 'callbackTellsScopes'
  | 'callbackMembers'
  | 'codeParameter'
  | 'stateParameter'

/** Another server's settings are not kept; `null` removes the entry's own, so that the catalogue's hold again. */
function kept<Name extends Setting>(name: Name, sent: Provider[Name] | null, context: OAuth2Context) {
  const before = sameServer(context) ? context.base?.[name] : undefined
  return { [name]: sent === undefined ? before : (sent ?? undefined) }
}

const member = memberOf<Pick<Provider, Setting>, OAuth2Context, Provider>()
const input = <Schema extends z.ZodType>(schema: Schema) => ({ create: schema, change: schema })

export const SCOPE_SETTINGS = {
  scope_implies: member({
    ...input(
      z
        .record(scope, z.array(scope).max(MAX_MEMBERS))
        .refine((record) => Object.keys(record).length <= MAX_MEMBERS, `at most ${MAX_MEMBERS} members`)
        .nullish()
        .meta({
          description:
            'Beyond Arcade: scopes, each with the scopes that it includes, for servers that list only the widest granted scope (GitHub lists `repo` and not `public_repo`). By default those of the catalogue; `null` restores them.',
          example: { repo: ['public_repo'] },
        }),
    ),
    answer: z.record(z.string(), z.array(z.string())).optional(),
    read: (sent, context) => kept('scopeImplies', sent, context),
    write({ scopeImplies }) {
      return (
        scopeImplies &&
        Object.fromEntries(Object.entries(scopeImplies).map(([name, implied]) => [name, [...implied]]))
      )
    },
  }),
  scope_aliases: member({
    ...input(
      z
        .record(scope, scope)
        .refine((record) => Object.keys(record).length <= MAX_MEMBERS, `at most ${MAX_MEMBERS} members`)
        .nullish()
        .meta({
          description:
            "Beyond Arcade: scopes that the server lists by another name than they are asked by. `null`: back to the catalogue's.",
          example: { email: 'https://www.googleapis.com/auth/userinfo.email' },
        }),
    ),
    answer: z.record(z.string(), z.string()).optional(),
    read: (sent, context) => kept('scopeAliases', sent, context),
    write: ({ scopeAliases }) => scopeAliases && { ...scopeAliases },
  }),
  keeps_earlier_grants: member({
    ...input(
      z.boolean().nullish().meta({
        description:
          'Beyond Arcade: the server keeps what was granted before when it is asked for more, so only new scopes are requested of a user whose connection works. If the token response lists none of the earlier scopes, they count as granted too. For other servers earlier and new scopes are requested together.',
      }),
    ),
    answer: z.boolean().optional(),
    read: (sent, context) => kept('keepsEarlierGrants', sent, context),
    write: ({ keepsEarlierGrants }) => keepsEarlierGrants,
  }),
  callback_tells_scopes: member({
    ...input(
      z.boolean().nullish().meta({
        description:
          'Beyond Arcade: the token response names no scopes and the authorization response does (Strava). The authorization response comes through the browser, so the user could remove scopes from it, which policies then do not see; added scopes have no effect. For other servers the requested scopes count as granted if the token response names none.',
      }),
    ),
    answer: z.boolean().optional(),
    read: (sent, context) => kept('callbackTellsScopes', sent, context),
    write: ({ callbackTellsScopes }) => callbackTellsScopes,
  }),
  code_parameter: member({
    ...input(
      z
        .string()
        .regex(/^[\w.-]{1,64}$/, 'letters, digits, _ . -')
        .refine(
          (name) => !['state', 'iss', 'error', 'code'].includes(name),
          'a name that no other parameter has',
        )
        .nullish()
        .meta({
          description:
            'Beyond Arcade: the parameter of the authorization response that has the code, in place of `code` (`auth_code`, `spapi_oauth_code`).',
        }),
    ),
    answer: z.string().optional(),
    read: (sent, context) => kept('codeParameter', sent, context),
    write: ({ codeParameter }) => codeParameter,
  }),
  state_parameter: member({
    ...input(
      z
        .string()
        .regex(/^[\w.-]{1,64}$/, 'letters, digits, _ . -')
        .refine(
          (name) => !['state', 'iss', 'error', 'code'].includes(name),
          'a name that no other parameter has',
        )
        .nullish()
        .meta({
          description:
            'Beyond Arcade: the parameter that has the state, in place of `state`, in the authorization request and in its response.',
        }),
    ),
    answer: z.string().optional(),
    read: (sent, context) => kept('stateParameter', sent, context),
    write: ({ stateParameter }) => stateParameter,
  }),
  callback_members: member({
    ...input(
      z
        .record(z.string().regex(/^[\w.-]{1,64}$/, 'letters, digits, _ . -'), z.string())
        .refine((record) => Object.keys(record).length <= 20, 'at most 20 members')
        .superRefine((record, context) => {
          for (const [name, pattern] of Object.entries(record)) {
            const fault = patternFault(pattern)
            if (fault !== undefined) context.addIssue({ code: 'custom', path: [name], message: fault })
          }
        })
        .nullish()
        .meta({
          description:
            "Beyond Arcade: parameters of the authorization response that tools are given in `extra`, each with a regular expression that the whole value must match. The values come through the user's browser, so permit only harmless ones, such as digits, or the provider's own hosts.",
          example: { realmId: '[0-9]{1,20}' },
        }),
    ),
    answer: z.record(z.string(), z.string()).optional(),
    read: (sent, context) => kept('callbackMembers', sent, context),
    write: ({ callbackMembers }) => callbackMembers && { ...callbackMembers },
  }),
}
