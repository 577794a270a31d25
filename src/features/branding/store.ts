import type { Database } from '../../store/database.ts'
import type { ProtectedTables } from '../../store/protection.ts'
import { valuesOf } from '../../store/signed-rows.ts'
import type { StorePart } from '../../store/store-part.ts'
import type { ProvedDomain } from './domain.ts'
import { describeBrandingTables } from './schema.ts'
import { createBrandings } from './store-brandings.ts'
import { createOwnDomains } from './store-domains.ts'

declare module '../../store/part-types.ts' {
  interface PartTables extends ReturnType<typeof describeBrandingTables> {}
  interface PartNouns extends Readonly<ReturnType<typeof createNouns>> {}
  interface PartChanges {
    /** The domain of this project has changed, or the proof of its ownership. */
    readonly domain: { readonly noun: 'domain'; readonly projectId: string }
  }
}

const PROTECTED = {
  brandings: {
    signed: {
      mac: {
        kind: 'brandings',
        members: valuesOf<ProvedDomain>('projectId', 'name', 'provedAt'),
        nameOf: ({ name }: ProvedDomain) => name,
      },
    },
  },
} as const satisfies ProtectedTables

export const brandingStore: StorePart = {
  tables: describeBrandingTables,
  nouns: createNouns,
  protects: PROTECTED,
  signed({ domains }, signing) {
    const domain = signing(PROTECTED.brandings.signed)
    return {
      domains: {
        ...domains,
        prove: (row, ...rest) => domains.prove(domain.sign(row), ...rest),
        findProved: async (projectId) => domain.check(await domains.findProved(projectId)),
        async page(...args) {
          const { rows, ...rest } = await domains.page(...args)
          return { ...rest, rows: domain.checkAll(rows) }
        },
      },
    }
  },
  readSigned: ({ domains }, projectId) => domains.findProved(projectId),
}

function createNouns(database: Database) {
  return { brandings: createBrandings(database), domains: createOwnDomains(database) }
}
