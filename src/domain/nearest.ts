/** Longer names are not compared: the cost grows with the square of the length. */
const MAX_LENGTH = 80
/** How many known names are compared at most. */
const MAX_KNOWN = 2_000

/**
 * The known name that was probably meant: equal but for case, `_`, `-` and spaces, else the one with the fewest
 * edits, at most `most` (one for every three characters unless given). `undefined` when none is near enough.
 */
export function nearest(
  given: string,
  known: Iterable<string>,
  options: { readonly most?: number } = {},
): string | undefined {
  if (given.length > MAX_LENGTH) return undefined
  const wanted = foldName(given)
  const most = options.most ?? Math.max(1, Math.floor(wanted.length / 3))
  let best: string | undefined
  let fewest = most + 1
  let looked = 0
  for (const name of known) {
    if (++looked > MAX_KNOWN) break
    if (name.length > MAX_LENGTH) continue
    const candidate = foldName(name)
    if (Math.abs(candidate.length - wanted.length) >= fewest) continue
    const edits = candidate === wanted ? 0 : editDistance(wanted, candidate)
    // if every character has to change, the names have nothing in common
    if (edits < fewest && edits < Math.max(wanted.length, candidate.length)) {
      fewest = edits
      best = name
    }
    if (edits === 0) break
  }
  return best
}

/** ` Did you mean "…"?`, or the empty string: ends a message about a name that does not exist. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const name = nearest(given, known)
  return name === undefined ? '' : ` Did you mean "${name}"?`
}

/** The name without its spelling style: `userId`, `user_id` and `USER-ID` are the same. */
export function foldName(name: string): string {
  return name.toLowerCase().replaceAll(/[_\-\s]/g, '')
}

/** Counts insertions, deletions, substitutions and transpositions (optimal string alignment distance). */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        edits = Math.min(edits, (before[j - 2] ?? 0) + 1)
      row.push(edits)
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}
