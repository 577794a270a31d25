import { expect, test } from 'vitest'
import { BrokerError } from '../../src/domain/errors.ts'
import type { RequestedUse } from '../../src/domain/requested-use.ts'
import type { Release } from '../../src/services/release.ts'
import { createUseGate, type UseGate } from '../../src/services/use-gate.ts'

const use: RequestedUse = { projectId: 'p', userId: 'ada', use: 'token', providers: [], hosts: [] }
const releases = [{} as Release] as const // no gate of this file looks into it

interface Told {
  readonly asked: string[]
  readonly refuses?: boolean
}

/** A gate whose rules have this version. */
function gate(version: number, { asked, refuses = false }: Told): UseGate {
  const decide = async (what: string) => {
    asked.push(`${version} ${what}`)
    if (refuses) throw new BrokerError('denied_by_policy', 'No.')
  }
  return {
    check: () => decide('check'),
    async checkRelease() {
      await decide('release')
      return [{ version }]
    },
    checkConsent: () => decide('consent'),
    approvals: async () => undefined,
    checkStart: () => undefined,
    alwaysRefused: async () => (refuses ? () => true : () => false),
    nouns: [`noun ${version}`],
  }
}

const checks: readonly (readonly [string, (gate: UseGate) => unknown])[] = [
  ['check', (gate) => gate.check(use)],
  ['release', (gate) => gate.checkRelease(releases, {})],
  ['consent', (gate) => gate.checkConsent(use)],
]

test('without a gate every use is permitted, and a release rests on no rules', async () => {
  const open = createUseGate([])
  await open.check(use)
  await open.checkConsent(use)
  expect(open.checkRelease(releases, {})).toEqual([])
  expect(await open.alwaysRefused('p')).toBeUndefined()
})

test.each(checks)('gates are asked in their order, and the first refusal ends it: %s', async (name, ask) => {
  const asked: string[] = []
  await ask(createUseGate([gate(1, { asked }), gate(2, { asked }), gate(3, { asked })]))
  expect(asked).toEqual([`1 ${name}`, `2 ${name}`, `3 ${name}`])

  asked.length = 0
  const refusing = createUseGate([gate(1, { asked }), gate(2, { asked, refuses: true }), gate(3, { asked })])
  await expect(ask(refusing)).rejects.toMatchObject({ code: 'denied_by_policy' })
  expect(asked).toEqual([`1 ${name}`, `2 ${name}`])
})

test('a release rests on the rules of all gates', async () => {
  const both = createUseGate([gate(1, { asked: [] }), gate(2, { asked: [] })])
  expect(await both.checkRelease(releases, {})).toEqual([{ version: 1 }, { version: 2 }])
})

test('lists leave out what any gate always refuses', async () => {
  const asked: string[] = []
  const withRules = createUseGate([gate(1, { asked }), gate(2, { asked, refuses: true })])
  expect((await withRules.alwaysRefused('p'))?.(use)).toBe(true)
  const agreeing = createUseGate([gate(1, { asked }), gate(2, { asked })])
  expect((await agreeing.alwaysRefused('p'))?.(use)).toBe(false)
  expect([createUseGate([]).nouns, agreeing.nouns]).toEqual([[], ['noun 1', 'noun 2']])
})
