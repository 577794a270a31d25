import { BrokerError } from '../../domain/errors.ts'
import type { Database } from '../../store/database.ts'
import { ofUid, type ProtectedTables, sealingBy } from '../../store/protection.ts'
import { valuesOf } from '../../store/signed-rows.ts'
import type { StorePart } from '../../store/store-part.ts'
import type { Policy } from './domain.ts'
import { subjectsOfUser } from './domain-quota-subject.ts'
import { describePolicyTables } from './schema.ts'
import { createAccessRequests } from './store-access-requests.ts'
import { createPolicies } from './store-policies.ts'
import { createQuotaCounts } from './store-quotas.ts'

declare module '../../store/part-types.ts' {
  interface PartTables extends ReturnType<typeof describePolicyTables> {}
  interface PartNouns extends Readonly<ReturnType<typeof createNouns>> {}
}

const PROTECTED = {
  policies: {
    id: 'uid',
    sealed: ['hook_secret'],
    needs: ['project_id'],
    context: ofUid,
    change: { noun: 'policy' },
    signed: {
      mac: {
        kind: 'policies',
        members: valuesOf<Policy>('id', 'projectId', 'enabled', 'effect', 'match', 'hook', 'approve'),
      },
    },
  },
  accessRequests: { id: 'uid', sealed: ['sealed_task'], needs: ['project_id'], context: ofUid },
} as const satisfies ProtectedTables

/** What the envelopes of a hook's secret and of an access request are bound to. */
export const policyContext = sealingBy(PROTECTED)

export const policyStore: StorePart = {
  tables: describePolicyTables,
  nouns: createNouns,
  protects: PROTECTED,
  /** An altered policy stops all releases of its project until an administrator sets or deletes it. */
  signed({ policies }, signing) {
    const { sign, check } = signing(PROTECTED.policies.signed)
    return {
      policies: {
        ...policies,
        async add(row, ...rest) {
          const known = await policies.find(row.projectId, row.id)
          // an altered row counts as absent: the administrator's policy takes its place
          if (known !== undefined && check(known) === undefined)
            return policies.change(known, sign(row), ...rest)
          return policies.add(sign(row), ...rest)
        },
        change: (from, to, ...rest) => policies.change(from, sign(to), ...rest),
        find: async (projectId, id) => check(await policies.find(projectId, id)),
        async inForce(projectId) {
          const { version } = await policies.inForce(projectId)
          // the rows that are checked are those that are used: with a second read, a row altered in between would pass
          const rows = await policies.list(projectId)
          const [altered] = rows.filter((row) => check(row) === undefined)
          if (altered === undefined) return { version, policies: rows.filter(({ enabled }) => enabled) }
          throw new BrokerError(
            'store_unavailable',
            `The policy "${altered.id}" was changed in the database by another program than Gatepass. Nothing is released in its project until an administrator sets it again or deletes it.`,
          )
        },
      },
    }
  },
  async erase({ quotaCounts, accessRequests }, user) {
    await quotaCounts.forget(user.projectId, subjectsOfUser(user.userId))
    await accessRequests.forgetUser(user)
  },
  // the questions that they belong to do not come back either
  restore({ tables: { accessRequests }, query, statement }) {
    const drop = statement((_: object) => query.delete(accessRequests).returning({ uid: accessRequests.uid }))
    return function* () {
      yield* drop({})
    }
  },
  readSigned: ({ policies }, projectId) => policies.inForce(projectId).catch(() => undefined),
  async signOlder(raw, { policies }, projectId) {
    const unsigned = await raw.policies.list(projectId)
    for (const policy of unsigned) await policies.change(policy, policy)
    return unsigned.length
  },
}

function createNouns(database: Database) {
  return {
    policies: createPolicies(database),
    quotaCounts: createQuotaCounts(database),
    accessRequests: createAccessRequests(database),
  }
}
