import Range from 'semver/classes/range.js'
import SemVer from 'semver/classes/semver.js'

// Versions of tools (SemVer 2.0.0). The package semver parses and compares; this file restricts what it accepts.

const VERSION = /^v?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/
const COMPARATOR = /^(=|>=|>|<=|<|\^|~)?(v?\d.*)$/
const PARTIAL = /^v?\d+(\.\d+)?$/

/** Parses `1.2.3-rc.1+build`, with or without a `v`; leading zeros are accepted. `undefined` for anything else. */
export function parseVersion(text: string): SemVer | undefined {
  if (!VERSION.test(text)) return undefined
  try {
    return new SemVer(text, { loose: true }) // loose for the leading zeros
  } catch {
    return undefined // a number above 2^53, an empty identifier, or more than 256 characters
  }
}

/** The version without a leading `v`; `undefined` if the text is not a version. */
export function plainVersion(text: string): string | undefined {
  return VERSION.test(text) ? text.replace(/^v/, '') : undefined
}

/**
 * Parses a version constraint: `=1.2.3`, `>`, `>=`, `<`, `<=`, `^1.2` (no breaking change: below 1.0.0 a minor version may
 * break, below 0.1.0 any) and `~1.2` (patches only). Several constraints, joined by spaces or commas, must all hold. A
 * version without operator means exactly that version, and omitted numbers are 0 (except after `^` and `~`), which
 * differs from npm's ranges. A pre-release only meets a constraint that names a pre-release of the same version, so that
 * no caller gets one unintentionally. `undefined` if the text is not a constraint.
 */
export function parseConstraint(text: string): Range | undefined {
  const parts = text
    .replaceAll(/(=|>|<|\^|~)\s+/g, '$1')
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map(readComparator)
  const known = parts.filter((part) => part !== undefined)
  if (known.length === 0 || known.length < parts.length) return undefined
  try {
    return new Range(known.join(' '), { loose: true })
  } catch {
    return undefined
  }
}

/** A comparator as semver's ranges write it: with zeros for omitted numbers, which semver would take as wildcards. */
function readComparator(part: string): string | undefined {
  const [, operator = '=', version = ''] = COMPARATOR.exec(part) ?? []
  if (!PARTIAL.test(version)) return parseVersion(version) && operator + version
  const isWildcard = operator === '^' || operator === '~'
  return operator + version + (isWildcard ? '' : '.0'.repeat(3 - version.split('.').length))
}
