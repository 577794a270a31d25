/** One deliberate fault in the sources, and the test that has to notice it. */
export interface Mutation {
  /** The rows of docs/evidence/threats.md whose promise the fault breaks; empty for a promise of another page. */
  readonly rows: readonly string[]
  /** The wrong behaviour of the mutated code, for the report. */
  readonly fault: string
  readonly file: string
  /** Occurs exactly once in `file`. */
  readonly from: string
  readonly to: string
  /** The test file that has to fail, below `test/`. */
  readonly test: string
  /** A part of the full name (suites and title) of the tests that are run. */
  readonly name: string
}

/** The mutated text of a file. Throws when the text of the mutation is not there exactly once. */
export function mutate(text: string, { file, from, to }: Mutation): string {
  const parts = text.split(from)
  if (parts.length !== 2)
    throw new Error(`${file} has the text of this mutation ${parts.length - 1} times, not once:\n${from}`)
  if (from === to) throw new Error(`${file}: the mutation changes nothing:\n${from}`)
  return parts.join(to)
}
