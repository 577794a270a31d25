import { lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keepDevelopmentKey, readDevelopmentKey } from '../src/development-key.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatepass-key-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const KEY = `gp_${'k'.repeat(43)}`

test('the key of development replaces a link or an open file, and is written to no other file', () => {
  const database = { kind: 'sqlite', path: join(folder, 'x.db') } as const
  const file = `${database.path}.api-key`
  const other = join(folder, 'other')
  writeFileSync(other, 'mine', { mode: 0o644 })
  symlinkSync(other, file)
  keepDevelopmentKey(database, KEY)
  expect(readFileSync(other, 'utf8')).toBe('mine')
  expect(lstatSync(file).isFile()).toBe(true)
  expect(lstatSync(file).mode & 0o777).toBe(0o600)
  expect(readDevelopmentKey(database)).toBe(KEY)
  expect(readdirSync(folder).toSorted()).toEqual(['other', 'x.db.api-key'])
})

test('a key that cannot be kept leaves nothing behind', () => {
  const database = { kind: 'sqlite', path: join(folder, 'none', 'x.db') } as const
  keepDevelopmentKey(database, KEY)
  expect(readDevelopmentKey(database)).toBeUndefined()
})
