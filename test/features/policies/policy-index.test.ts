import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type RequestedUse, USE_KINDS } from '../../../src/domain/requested-use.ts'
import { EFFECTS, type Policy, type PolicyMatch } from '../../../src/features/policies/domain.ts'
import { evaluate } from '../../../src/features/policies/evaluate.ts'
import { appliesTo, byProvider } from '../../../src/features/policies/policy-match.ts'
import { propertyRuns } from '../../property-runs.ts'

const AT = Date.UTC(2026, 10, 18, 12) / 1000

function rule(id: string, effect: Policy['effect'], match: PolicyMatch): Policy {
  return { id, projectId: 'proj_1', enabled: true, effect, match, createdAt: 0, updatedAt: 0 }
}

// few letters, so that patterns and texts meet often
const text = fc.string({ unit: fc.constantFrom('a', 'B', 'b', '.'), minLength: 1, maxLength: 3 })
const pattern = fc.string({ unit: fc.constantFrom('a', 'B', 'b', '.', '*'), minLength: 1, maxLength: 4 })
const patterns = fc.array(pattern, { minLength: 1, maxLength: 3 })
const match = fc.record(
  {
    users: patterns,
    tools: patterns,
    workers: patterns,
    providers: patterns,
    scopes: patterns,
    hosts: patterns,
    uses: fc.subarray([...USE_KINDS], { minLength: 1 }),
  },
  { requiredKeys: [] },
)
const rules = fc
  .array(fc.tuple(fc.constantFrom(...EFFECTS), match), {
    maxLength: 8,
  })
  .map((all) => all.map(([effect, one], i) => rule(`rule-${i}`, effect, one)))
const use: fc.Arbitrary<RequestedUse> = fc
  .record(
    {
      userId: text,
      tool: fc
        .record({
          id: text,
          aliases: fc.array(
            text.map((one) => one.toLowerCase()),
            { maxLength: 2 },
          ),
        })
        .map((tool) => ({ ...tool, ownNames: tool.aliases.slice(0, 1), hints: [] })),
      worker: text,
      use: fc.constantFrom(...USE_KINDS),
      providers: fc.array(fc.record({ id: text, scopes: fc.array(text, { maxLength: 2 }) }), {
        maxLength: 2,
      }),
      hosts: fc.array(text, { maxLength: 2 }),
    },
    { requiredKeys: ['use', 'providers', 'hosts'] },
  )
  .map((one) => ({ projectId: 'proj_1', ...one }))

test('rules that are found by what they name decide as if each rule were looked at', () => {
  fc.assert(
    fc.property(rules, use, fc.constantFrom('needed' as const, 'granted' as const), (all, one, scopes) => {
      const context = { at: AT, scopes }
      const parts = byProvider(one)
      const applies = (policy: Policy) => parts.some((part) => appliesTo(policy, part, context))
      const { refusal, hooks } = evaluate(all, one, context)
      const denied = all.find((policy) => policy.effect === 'deny' && applies(policy))
      const allows = all.filter(({ effect }) => effect === 'allow')
      const isCovered = parts.every((part) => allows.some((policy) => appliesTo(policy, part, context)))
      expect(hooks.map(({ policy }) => policy)).toEqual(
        all.filter((policy) => policy.effect === 'hook' && applies(policy)),
      )
      if (denied !== undefined) expect(refusal).toMatchObject({ reason: 'denied', by: [{ policy: denied }] })
      else if (allows.length === 0 || isCovered) expect(refusal).toBeUndefined()
      else expect(refusal?.by.map(({ policy }) => policy)).toEqual(allows)
    }),
    { numRuns: propertyRuns({ rare: 10 }) },
  )
})

test.each<[string, (i: number) => PolicyMatch]>([
  ['other users', (i) => ({ users: [`user-${i}`] })],
  ['users by a beginning', (i) => ({ users: [`user-${i}@*`] })],
  ['users by an ending', (i) => ({ users: [`*@firm-${i}.example`] })],
  ['other tools', (i) => ({ tools: [`github:star-${i}`], users: ['*'] })],
  ['other providers', (i) => ({ providers: [`provider-${i}`] })],
  ['other scopes', (i) => ({ scopes: [`scope-${i}`], providers: ['github'] })],
  ['other hosts', (i) => ({ hosts: [`${i}.example.com`] })],
  ['another use', () => ({ uses: ['tool'] })],
])('a use looks at no rule that names %s', (_, matchOf) => {
  let looks = 0
  const all = Array.from({ length: 1_000 }, (_, i) => {
    const policy = rule(`rule-${i}`, i % 2 === 0 ? 'deny' : 'hook', {})
    return Object.defineProperty(policy, 'match', {
      get() {
        looks++
        return matchOf(i)
      },
    })
  })
  const ada: RequestedUse = {
    projectId: 'proj_1',
    userId: 'ada@example.com',
    use: 'token',
    providers: [{ id: 'github', scopes: ['repo'] }],
    hosts: [],
  }
  const context = { at: AT, scopes: 'granted' } as const
  evaluate(all, ada, context)
  looks = 0
  expect(evaluate(all, { ...ada, userId: 'bob@example.com' }, context)).toEqual({
    limits: [],
    quotas: [],
    hooks: [],
    approvals: [],
    approvalsBeyond: [],
  })
  expect(looks).toBe(0)
})
