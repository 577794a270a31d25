import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { layers, wrongImports } from './layers.ts'

describe('which way imports point', () => {
  test('every import in src is of a layer further left in layers.json', () => {
    expect(wrongImports('src')).toEqual([])
  })

  test.each([
    ['a type from a layer further right', 'domain/a.ts', "import type { Broker } from '../broker.ts'"],
    ['a value from a layer further right', 'store/a.ts', "import { a } from '../flows/a.ts'"],
    ['an export from a layer further right', 'flows/a.ts', "export { a } from '../tools/a.ts'"],
    ['a dynamic import', 'tools/run/a.ts', "export const a = () => import('../../http/a.ts')"],
    ['a file not listed for this folder', 'copying/a.ts', "import { a } from '../store/connections.ts'"],
    ['another group of the same row', 'http/a.ts', "import { config } from '../config.ts'"],
    ['a folder that layers.json does not name', 'somewhere/a.ts', 'export const a = 1'],
    ['a feature, from outside', 'flows/a.ts', "import { a } from '../features/x/a.ts'"],
    ['the list of features', 'flows/a.ts', "import { a } from '../features/features.ts'"],
    ['a feature, from another', 'features/y/console.ts', "import { a } from '../x/a.ts'"],
    ['a page, from a flow of a feature', 'features/x/a.ts', "import { a } from '../../http/a.ts'"],
    ['a command, from a page of a feature', 'features/x/console.ts', "import { a } from './command.ts'"],
    ['a package of other files', 'providers/a.ts', "import * as client from 'openid-client'"],
    ['a part of a package of other folders', 'flows/a.ts', "import { pgTable } from 'drizzle-orm/pg-core'"],
  ])('refuses %s', (_, file, source) => {
    const src = mkdtempSync(join(tmpdir(), 'gatepass-layers-'))
    onTestFinished(() => rmSync(src, { recursive: true }))
    mkdirSync(dirname(join(src, file)), { recursive: true })
    writeFileSync(join(src, file), source)
    expect(wrongImports(src)).toEqual([expect.stringContaining(file)])
  })

  test('layers.json names each folder and file once', () => {
    const names = layers.rows.flat().flatMap((group) => group.split(' '))
    expect([...new Set(names)]).toEqual(names)
  })
})
