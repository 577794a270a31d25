/** A run of words of two texts, in reading order. `removed` is of the first text only, `added` of the second only. */
export interface WordChange {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** The comparison takes time and memory for each pair of words: beyond this, what differs is shown as a whole. */
const MOST_PAIRS = 250_000

/** The difference of two texts, word by word. Takes a few milliseconds at most for the longest texts. */
export function wordChanges(before: string, after: string): WordChange[] {
  const from = wordsOf(before)
  const to = wordsOf(after)
  const least = Math.min(from.length, to.length)
  let start = 0
  while (start < least && from[start] === to[start]) start++
  let end = 0
  while (end < least - start && from[from.length - 1 - end] === to[to.length - 1 - end]) end++
  return joined([
    ...from.slice(0, start).map((text) => ({ kind: 'same' as const, text })),
    ...middle(from.slice(start, from.length - end), to.slice(start, to.length - end)),
    ...from.slice(from.length - end).map((text) => ({ kind: 'same' as const, text })),
  ])
}

/** Words with the white space that follows them, so that joined they are the text. */
function wordsOf(text: string): string[] {
  return text.match(/\s+|\S+\s*/gu) ?? []
}

function middle(from: readonly string[], to: readonly string[]): WordChange[] {
  if (from.length * to.length > MOST_PAIRS)
    return [
      { kind: 'removed', text: from.join('') },
      { kind: 'added', text: to.join('') },
    ]
  const width = to.length + 1
  /** The length of the longest common subsequence of the words from `i` and from `j` on. */
  const lengths = new Uint32Array((from.length + 1) * width)
  const lengthAt = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = from.length - 1; i >= 0; i--)
    for (let j = to.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        from[i] === to[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1))
  const changes: WordChange[] = []
  let [i, j] = [0, 0]
  while (i < from.length || j < to.length) {
    const [removed, added] = [from[i], to[j]]
    if (removed !== undefined && removed === added) {
      changes.push({ kind: 'same', text: removed })
      i++
      j++
    } else if (removed !== undefined && (added === undefined || lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      changes.push({ kind: 'removed', text: removed })
      i++
    } else {
      changes.push({ kind: 'added', text: added ?? '' })
      j++
    }
  }
  return changes
}

/** Neighbours of the same kind as one. */
function joined(changes: readonly WordChange[]): WordChange[] {
  const runs: WordChange[] = []
  for (const change of changes) {
    const last = runs.at(-1)
    if (last?.kind === change.kind) runs[runs.length - 1] = { ...last, text: last.text + change.text }
    else if (change.text !== '') runs.push(change)
  }
  return runs
}
