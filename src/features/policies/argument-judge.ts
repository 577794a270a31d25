import { compilePattern, PatternFault, type PatternLimits } from '../../parsing/pattern.ts'
import { pointerTokens } from '../../sdk/worker/json-pointer.ts'
import { readAddressList } from './argument-addresses.ts'
import { canonicalHost, domainTest, hostOfUrl } from './argument-hosts.ts'
import { type Found, MISSING, UNREADABLE, valuesAt } from './argument-values.ts'
import type { ArgumentRule, ArgumentTest } from './domain.ts'

/** The conditions of one policy. `all`: of several values all must hold (the effect `allow`), else any. */
export interface ArgumentConditions {
  readonly rules: readonly ArgumentRule[]
  readonly values: 'any' | 'all'
}

export interface ArgumentsToJudge {
  readonly conditions: readonly ArgumentConditions[]
  readonly input: unknown
}

/** Whether the conditions of a policy hold; `failed`: that cannot be decided. */
export type ArgumentVerdict = boolean | 'failed'

export interface JudgeLimits {
  /** In steps of RE2, of which a core makes 10 to 50 million in a second. */
  readonly maxSteps: number
  /** Whether the value fits; `undefined`: that cannot be decided within the limits. */
  readonly validate: (schema: NonNullable<ArgumentTest['schema']>, value: unknown) => boolean | undefined
}

/** Within a size that compiles in about a millisecond. */
export const PATTERN_LIMITS: PatternLimits = { length: 500, size: 1_000, classes: 10 }

/** What the check of a schema counts for, whose own limit is in other steps. */
const STEPS_OF_SCHEMA = 2_000

/** The limits do not suffice. */
class NotDecided extends Error {}

/** The verdicts in the order of the conditions. `undefined`: the limits do not suffice. */
export function judgeArguments(
  { conditions, input }: ArgumentsToJudge,
  { maxSteps, validate }: JudgeLimits,
): readonly boolean[] | undefined {
  let left = maxSteps
  const spend = (steps: number) => {
    left -= steps
    if (left < 0) throw new NotDecided()
  }
  const validated: JudgeLimits['validate'] = (schema, value) => {
    const isValid = validate(schema, value)
    if (isValid === undefined) throw new NotDecided()
    return isValid
  }
  try {
    return conditions.map(({ rules, values }) =>
      rules.every((rule) => {
        const found = readAs(rule, valuesAt(input, pointerTokens(rule.at), spend), spend)
        const holds = (one: Found) => holdsFor(rule, one, values, { spend, validated })
        return values === 'all' ? found.every(holds) : found.some(holds)
      }),
    )
  } catch (error) {
    if (error instanceof NotDecided || error instanceof PatternFault) return undefined
    throw error
  }
}

interface Means {
  readonly spend: (steps: number) => void
  readonly validated: JudgeLimits['validate']
}

function holdsFor(rule: ArgumentRule, found: Found, values: 'any' | 'all', means: Means): boolean {
  const { not, missing = not === undefined ? 'no_match' : 'match' } = rule
  const test = not ?? rule
  const isNull = found.kind === 'value' && found.value === null
  if (found.kind === 'missing' || (isNull && test.schema === undefined && !test.oneOf?.includes(null)))
    return missing === 'match'
  const passes = found.kind === 'value' ? passesTest(test, rule.as, found.value, means) : undefined
  // what cannot be read counts against the call: rules that restrict match it, rules that allow do not
  if (passes === undefined) return values === 'any'
  return not === undefined ? passes : !passes
}

/** What `as` reads in the values: each address of a list, the host of a URL. */
function readAs({ as }: ArgumentRule, found: readonly Found[], spend: Means['spend']): readonly Found[] {
  if (as === undefined) return found
  return found.flatMap((one) => {
    if (one.kind !== 'value' || one.value === null) return one
    const { value } = one
    if (typeof value !== 'string') return UNREADABLE
    spend(value.length)
    if (as === 'url') {
      const host = hostOfUrl(value)
      return host === undefined ? UNREADABLE : { kind: 'value', value: host }
    }
    const addresses = readAddressList(value)
    if (addresses === undefined) return UNREADABLE
    spend(addresses.length)
    return addresses.length === 0 ? MISSING : addresses.map(({ text }) => ({ kind: 'value', value: text }))
  })
}

/** `undefined`: the value is of a kind that the test is not about. */
function passesTest(
  test: ArgumentTest,
  as: ArgumentRule['as'],
  value: unknown,
  { spend, validated }: Means,
): boolean | undefined {
  if (test.schema !== undefined) {
    spend(STEPS_OF_SCHEMA)
    return validated(test.schema, value)
  }
  if (typeof value === 'object' && value !== null) return undefined
  const text = String(value)
  if (test.matches !== undefined) {
    const pattern = compilePattern(test.matches, PATTERN_LIMITS)
    spend(text.length * pattern.size)
    return pattern.matches(text)
  }
  const inList = test.domains === undefined ? listTest(test, as) : domainsTest(test)
  spend(1 + (test.domains?.length ?? 0))
  return inList?.(as === 'email' && test.domains !== undefined ? text.slice(text.lastIndexOf('@') + 1) : text)
}

const tests = new WeakMap<ArgumentTest, ((text: string) => boolean) | 'unusable'>()

function domainsTest(test: ArgumentTest): ((text: string) => boolean) | undefined {
  const known = tests.get(test) ?? domainTest(test.domains ?? []) ?? 'unusable'
  tests.set(test, known)
  return known === 'unusable' ? undefined : known
}

function listTest(test: ArgumentTest, as: ArgumentRule['as']): (text: string) => boolean {
  const known = tests.get(test)
  if (known !== undefined && known !== 'unusable') return known
  const texts = new Set((test.oneOf ?? []).map((item) => canonicalItem(String(item), as) ?? ''))
  const made = (text: string) => texts.has(text)
  tests.set(test, made)
  return made
}

/** An item of `one_of` in the form that `as` reads; `undefined` if it is none. */
export function canonicalItem(item: string, as: ArgumentRule['as']): string | undefined {
  if (as === undefined) return item
  if (as === 'url') return canonicalHost(item) ?? hostOfUrl(item)
  const found = readAs({ at: '', as }, [{ kind: 'value', value: item }], () => {})
  const [only, ...more] = found
  return more.length === 0 && only?.kind === 'value' && typeof only.value === 'string'
    ? only.value
    : undefined
}
