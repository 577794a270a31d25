import { expect, test } from 'vitest'
import {
  ABILITY_FUNCTIONS,
  type Abilities,
  abilitiesOf,
  type Engine,
  engineOf,
} from '../../src/store/dialects/postgres/engine.ts'

const ALL: Abilities = { hasSnapshots: true }
const NONE: Abilities = { hasSnapshots: false }

test.each<[string, Engine, Abilities]>([
  ['PostgreSQL 18.4 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit', 'postgresql', ALL],
  ['PostgreSQL 15.12-YB-2025.2.3.0-b0 on x86_64-pc-linux-gnu, compiled by clang, 64-bit', 'yugabytedb', NONE],
  ['CockroachDB CCL v25.2.0 (x86_64-pc-linux-gnu, built 2025/05/09)', 'cockroachdb', NONE],
])('%s is recognised, and has the abilities of its engine', (version, engine, abilities) => {
  expect(engineOf(version)).toBe(engine)
  expect(abilitiesOf(version, ABILITY_FUNCTIONS)).toEqual(abilities)
})

test('an older PostgreSQL has only the abilities whose functions it has', () => {
  expect(abilitiesOf('PostgreSQL 12.0', [])).toEqual(NONE)
  expect(abilitiesOf('PostgreSQL 13.0', ['pg_current_snapshot', 'pg_current_xact_id'])).toEqual(ALL)
})
