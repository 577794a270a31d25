/** A version by SemVer 2.0.0. Build metadata counts for nothing and is not kept. */
export interface Version {
  readonly core: readonly [number, number, number]
  /** The identifiers after the `-`; none: a release. */
  readonly preRelease: readonly string[]
}

const VERSION = /^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/

/** `1.2.3-rc.1+build`, with or without a `v`; leading zeros are let pass. `undefined` for anything else. */
export function parseVersion(text: string): Version | undefined {
  const [whole, major, minor, patch, preRelease] = VERSION.exec(text) ?? []
  if (whole === undefined) return undefined
  const identifiers = preRelease?.split('.') ?? []
  if (identifiers.includes('')) return undefined
  return { core: [Number(major), Number(minor), Number(patch)], preRelease: identifiers }
}

/** Above 0 when `a` is the newer (SemVer section 11). */
export function compareVersions(a: Version, b: Version): number {
  for (const [at, number] of a.core.entries()) {
    const difference = number - (b.core[at] ?? 0)
    if (difference !== 0) return difference
  }
  if (a.preRelease.length === 0 || b.preRelease.length === 0)
    return Number(a.preRelease.length === 0) - Number(b.preRelease.length === 0)
  for (const [at, identifier] of a.preRelease.entries()) {
    const other = b.preRelease[at]
    if (other === undefined) return 1
    const difference = compareIdentifiers(identifier, other)
    if (difference !== 0) return difference
  }
  return a.preRelease.length - b.preRelease.length
}

/** Numbers by their size and below words, words by their ASCII order. */
function compareIdentifiers(a: string, b: string): number {
  const [isNumberA, isNumberB] = [a, b].map((one) => /^\d+$/.test(one))
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1
  // not as numbers, which lose digits above 2^53
  const [plainA, plainB] = [a, b].map((one) => (isNumberA ? one.replace(/^0+(?=\d)/, '') : one))
  if (plainA === undefined || plainB === undefined || plainA === plainB) return 0
  if (isNumberA && plainA.length !== plainB.length) return plainA.length - plainB.length
  return plainA < plainB ? -1 : 1
}

type Comparator = (version: Version) => boolean

/** Which versions will do. */
export interface VersionConstraint {
  allows(version: Version): boolean
}

const OPERATOR = /^(=|>=|>|<=|<|\^|~)?\s*(v?\d.*)$/

/**
 * `=1.2.3`, `>`, `>=`, `<`, `<=`, `^1.2` (nothing that breaks: below 1.0.0 a minor version may, below 0.1.0 any) and
 * `~1.2` (patches); several joined by spaces or commas must all hold. A version alone is exactly that one, and numbers
 * left out are 0. A pre-release is allowed only by a constraint that names one of the same version, so that nobody gets
 * one unasked. `undefined` for what is none of this.
 */
export function parseConstraint(text: string): VersionConstraint | undefined {
  const parts = text
    .replaceAll(/(=|>|<|\^|~)\s+/g, '$1')
    .split(/[\s,]+/)
    .filter((part) => part !== '')
  const read = parts.map(readPart)
  const known = read.filter((one) => one !== undefined)
  if (known.length === 0 || known.length < read.length) return undefined
  return {
    allows: (version) =>
      known.every((one) => one.holds(version)) &&
      (version.preRelease.length === 0 ||
        known.some(({ named }) => named.preRelease.length > 0 && isSameCore(named, version))),
  }
}

function readPart(part: string): { readonly named: Version; readonly holds: Comparator } | undefined {
  const [, operator = '=', said = ''] = OPERATOR.exec(part) ?? []
  const named = parseVersion(withZeros(said))
  return named && { named, holds: comparator(operator, named, said) }
}

/** `1` is 1.0.0, `1.2` is 1.2.0. */
function withZeros(text: string): string {
  const numbers = text.split('.').length
  return /^v?\d+(\.\d+)?$/.test(text) ? text + '.0'.repeat(3 - numbers) : text
}

function comparator(operator: string, named: Version, said: string): Comparator {
  const { core } = named
  switch (operator) {
    case '>':
      return (version) => compareVersions(version, named) > 0
    case '>=':
      return (version) => compareVersions(version, named) >= 0
    case '<':
      return (version) => compareVersions(version, named) < 0
    case '<=':
      return (version) => compareVersions(version, named) <= 0
    case '^':
      return between(named, nextBreaking(core, said.split('.').length))
    case '~':
      return between(named, said.includes('.') ? [core[0], core[1] + 1, 0] : [core[0] + 1, 0, 0])
    default:
      return (version) => compareVersions(version, named) === 0
  }
}

/** Where what worked may work no more (SemVer sections 4 and 8); numbers that were left out may be any. */
function nextBreaking([major, minor, patch]: Version['core'], said: number): Version['core'] {
  if (major > 0 || said === 1) return [major + 1, 0, 0]
  return minor > 0 || said === 2 ? [0, minor + 1, 0] : [0, 0, patch + 1]
}

function between(from: Version, to: Version['core']): Comparator {
  const end = { core: to, preRelease: [] }
  return (version) => compareVersions(version, from) >= 0 && compareVersions(version, end) < 0
}

function isSameCore(a: Version, b: Version): boolean {
  return a.core.every((number, at) => number === b.core[at])
}
