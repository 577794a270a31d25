// drizzle-kit reads the tables that a module exports, and loads it by `require`, so that it cannot wait for a module as
// `src/store/store-parts.ts` does.
const { globSync } = require('node:fs')
const { join } = require('node:path')
const { describeTables } = require('../src/store/schema.ts')

/** The tables of the core and of each feature. */
exports.tablesBy = (kit) => {
  const core = describeTables(kit)
  const parts = globSync('src/features/*/store.ts').flatMap((path) =>
    Object.values(require(join(process.cwd(), path))),
  )
  return Object.assign({}, core, ...parts.map(({ tables }) => tables?.(kit, core)))
}
