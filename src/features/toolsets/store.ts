import type { Database } from '../../store/database.ts'
import type { ProtectedTables } from '../../store/protection.ts'
import { valuesOf } from '../../store/signed-rows.ts'
import type { StorePart } from '../../store/store-part.ts'
import type { Toolset } from './domain.ts'
import { describeToolsetTables } from './schema.ts'
import { createToolsets } from './store-toolsets.ts'

declare module '../../store/part-types.ts' {
  interface PartTables extends ReturnType<typeof describeToolsetTables> {}
  interface PartNouns extends Readonly<ReturnType<typeof createNouns>> {}
  interface PartChanges {
    readonly toolset: { readonly noun: 'toolset' }
  }
}

const PROTECTED = {
  toolsets: {
    signed: {
      mac: {
        kind: 'toolsets',
        // without the times, and the bare names that its tools were given
        members: valuesOf<Toolset>(
          'projectId',
          'id',
          'names',
          'tools',
          'toolSources',
          'namespaces',
          'tags',
          'providers',
          'instructions',
          'listing',
        ),
      },
    },
  },
} as const satisfies ProtectedTables

export const toolsetStore: StorePart = {
  tables: describeToolsetTables,
  nouns: createNouns,
  protects: PROTECTED,
  signed({ toolsets }, signing) {
    const { sign, check, checkAll } = signing(PROTECTED.toolsets.signed)
    return {
      toolsets: {
        ...toolsets,
        async add(row, ...rest) {
          const known = await toolsets.find(row.projectId, row.id)
          // an altered row counts as absent: the administrator's toolset takes its place
          if (known !== undefined && check(known) === undefined)
            return toolsets.change(known, sign(row), ...rest)
          return toolsets.add(sign(row), ...rest)
        },
        change: (from, to, ...rest) => toolsets.change(from, sign(to), ...rest),
        find: async (...args) => check(await toolsets.find(...args)),
        list: async (...args) => checkAll(await toolsets.list(...args)),
      },
    }
  },
  readSigned: ({ toolsets }, projectId) => toolsets.list(projectId),
  async signOlder(raw, { toolsets }, projectId) {
    const rows = await raw.toolsets.list(projectId)
    for (const row of rows) await toolsets.change(row, row)
    return rows.length
  },
}

function createNouns(database: Database) {
  return { toolsets: createToolsets(database) }
}
