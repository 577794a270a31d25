import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { shortWaits } from './waits.ts'

function faultsOf(text: string): string[] {
  const root = mkdtempSync(join(tmpdir(), 'gatepass-waits-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'test'))
  writeFileSync(join(root, 'test/a.test.ts'), text)
  return shortWaits(root)
}

test('no test of this repository has a limit below five minutes for what it waits for', () => {
  expect(shortWaits('.')).toEqual([])
})

test.each([
  ['vi.waitFor(() => ready())', 'vi.waitFor waits 1000 ms'],
  ['await vi.waitFor(() => ready(), 60_000)', 'vi.waitFor waits 60000 ms'],
  ['await vi.waitUntil(ready, { timeout: 5_000 })', 'vi.waitUntil waits 5000 ms'],
  [
    'const PATIENCE = { timeout: 90_000 }; await expect.poll(ready, PATIENCE).toBe(1)',
    'expect.poll waits 90000 ms',
  ],
  ["test('works', () => run(), 30_000)", 'test waits 30000 ms'],
  ["test.each([1])('works', { timeout: 30_000 }, () => run())", 'test.each waits 30000 ms'],
  ['const LONG = 120_000; beforeAll(() => start(), LONG)', 'beforeAll waits 120000 ms'],
])('finds %s', (text, fault) => {
  expect(faultsOf(text)).toEqual([expect.stringContaining(fault)])
})

test.each([
  'await vi.waitFor(() => ready(), 300_000)',
  'await expect.poll(ready).toBe(1)',
  'await expect.poll(ready, { interval: 5 }).toBe(1)',
  "test('works', () => run(60))",
  "test.each([[1, 2]])('adds', (a, b) => add(a, b), 600_000)",
])('takes %s', (text) => {
  expect(faultsOf(text)).toEqual([])
})
