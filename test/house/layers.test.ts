import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { layers, wrongImports } from './layers.ts'

describe('which way imports point', () => {
  test('every import of src points left', () => {
    expect(wrongImports('src')).toEqual([])
  })

  test.each([
    ['a type from a layer further right', 'domain/a.ts', "import type { Broker } from '../broker.ts'"],
    ['a value from a layer further right', 'store/a.ts', "import { a } from '../flows/a.ts'"],
    ['an export from a layer further right', 'flows/a.ts', "export { a } from '../tools/a.ts'"],
    ['a module that is loaded later', 'tools/run/a.ts', "export const a = () => import('../../http/a.ts')"],
    ['a file that is kept from this folder', 'copying/a.ts', "import { a } from '../store/connections.ts'"],
    ['a neighbour of the same row', 'http/a.ts', "import { config } from '../config.ts'"],
    ['a folder that has no place', 'somewhere/a.ts', 'export const a = 1'],
    ['a package of another file', 'providers/a.ts', "import * as client from 'openid-client'"],
    ['a part of a package of another folder', 'flows/a.ts', "import { pgTable } from 'drizzle-orm/pg-core'"],
  ])('refuses %s', (_, file, source) => {
    const src = mkdtempSync(join(tmpdir(), 'gatepass-layers-'))
    onTestFinished(() => rmSync(src, { recursive: true }))
    mkdirSync(dirname(join(src, file)), { recursive: true })
    writeFileSync(join(src, file), source)
    expect(wrongImports(src)).toEqual([expect.stringContaining(file)])
  })

  test('every name in the list stands once', () => {
    const names = layers.rows.flat().flatMap((group) => group.split(' '))
    expect([...new Set(names)]).toEqual(names)
  })
})
