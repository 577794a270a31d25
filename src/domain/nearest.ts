/** Longer names are compared with nothing: the work grows with the square of the length. */
const MAX_LENGTH = 80
/** Of more, only the first are looked at. */
const MAX_KNOWN = 2_000

/**
 * The known name that was probably meant: the same but for case, `_`, `-` and spaces, else the one with the fewest
 * edits, at most one for every three characters or as many as said. `undefined` when none comes near.
 */
export function nearest(
  said: string,
  known: Iterable<string>,
  options: { readonly most?: number } = {},
): string | undefined {
  if (said.length > MAX_LENGTH) return undefined
  const wanted = folded(said)
  const most = options.most ?? Math.max(1, Math.floor(wanted.length / 3))
  let best: string | undefined
  let fewest = most + 1
  let looked = 0
  for (const name of known) {
    if (++looked > MAX_KNOWN) break
    if (name.length > MAX_LENGTH) continue
    const candidate = folded(name)
    if (Math.abs(candidate.length - wanted.length) >= fewest) continue
    const edits = candidate === wanted ? 0 : editDistance(wanted, candidate)
    // two names without a character in common are never near
    if (edits < fewest && edits < Math.max(wanted.length, candidate.length)) {
      fewest = edits
      best = name
    }
    if (edits === 0) break
  }
  return best
}

/** ` Did you mean "…"?`, or nothing: ends a message about a name that does not exist. */
export function didYouMean(said: string, known: Iterable<string>): string {
  const name = nearest(said, known)
  return name === undefined ? '' : ` Did you mean "${name}"?`
}

/** What is left of a name when only its spelling style is taken away: `userId`, `user_id`, `USER-ID` are one. */
export function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[_\-\s]/g, '')
}

/** Insertions, deletions, substitutions and exchanged neighbours (optimal string alignment). */
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
