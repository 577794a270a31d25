import { invalidMember } from '../../domain/errors.ts'
import { compilePattern, PatternFault } from '../../parsing/pattern.ts'
import { domainTest } from './argument-hosts.ts'
import { canonicalItem, PATTERN_LIMITS } from './argument-judge.ts'
import type { ArgumentRule, ArgumentTest } from './domain.ts'

const TESTS = ['oneOf', 'matches', 'domains', 'schema'] as const
const NAMES = 'one_of, matches, domains or schema'
/** RFC 6901 section 3: `~` only as `~0` and `~1`. */
const POINTER = /^(?:\/(?:[^~/]|~[01])*)+$/

/** Refuses conditions that contradict themselves, and those that would never see a value: `invalid_request`. */
export function checkArgumentRules(rules: readonly ArgumentRule[]): void {
  for (const [i, rule] of rules.entries()) {
    const path = `match.arguments.${i}`
    if (!POINTER.test(rule.at))
      throw invalidMember(
        `${path}.at`,
        'invalid',
        `${path}.at is not a JSON Pointer (RFC 6901) to an argument. Write it like /to, or /items/*/id for every item.`,
      )
    const tests = [...TESTS.filter((name) => rule[name] !== undefined), ...(rule.not ? ['not'] : [])]
    if (tests.length !== 1)
      throw invalidMember(path, 'invalid', `${path} needs exactly one of ${NAMES}, or not.`)
    if (rule.not !== undefined && TESTS.filter((name) => rule.not?.[name] !== undefined).length !== 1)
      throw invalidMember(`${path}.not`, 'invalid', `${path}.not needs exactly one of ${NAMES}.`)
    checkTest(rule.not ?? rule, rule.as, rule.not === undefined ? path : `${path}.not`)
  }
}

function checkTest(
  { oneOf, matches, domains, schema }: ArgumentTest,
  as: ArgumentRule['as'],
  path: string,
): void {
  const refuse = (member: string, message: string) => {
    throw invalidMember(`${path}.${member}`, 'invalid', `${path}.${member} ${message}`)
  }
  if (schema !== undefined && as !== undefined)
    refuse('schema', 'is about JSON values: leave `as` out, or use one_of, matches or domains.')
  if (domains !== undefined && as === undefined)
    refuse('domains', 'needs `as`: "email" for addresses, "url" for URLs.')
  for (const domain of domains ?? [])
    if (domainTest([domain]) === undefined)
      refuse('domains', `has "${domain.slice(0, 60)}", which is no domain. Write acme.com, or *.acme.com.`)
  for (const item of oneOf ?? [])
    if (canonicalItem(String(item), as) === undefined)
      refuse(
        'one_of',
        `has "${String(item).slice(0, 60)}", which is no ${as === 'url' ? 'host' : 'address'}.`,
      )
  if (matches === undefined) return
  try {
    compilePattern(matches, PATTERN_LIMITS)
  } catch (error) {
    if (!(error instanceof PatternFault)) throw error
    refuse('matches', `cannot be used as an RE2 pattern: ${error.message.slice(0, 200)}.`)
  }
}
