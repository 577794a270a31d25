const { tablesBy } = require('./tables.cjs')
const { sqliteKit } = require('../src/store/schema-kit.ts')
const own = require('../src/store/dialects/sqlite/schema.ts')

module.exports = { ...tablesBy(sqliteKit), ...own }
