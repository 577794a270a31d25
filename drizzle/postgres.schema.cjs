const { tablesBy } = require('./tables.cjs')
const { postgresKit, partitionedKit: _, ...own } = require('../src/store/dialects/postgres/schema.ts')

module.exports = { ...tablesBy(postgresKit), ...own }
