import type { EpochSeconds } from '../domain/clock.ts'
import type { BlockRange } from '../store/audit-trail.ts'
import type { SearchedMember } from './audit-entry.ts'

/** A range of entry numbers, with both ends. */
export interface SeqRange {
  readonly from: number
  readonly to: number
}

/** A member that entries must have, with its value. */
export type Wanted = readonly [SearchedMember, string]

export interface TrailSearch extends SeqRange {
  readonly wanted: readonly Wanted[]
  readonly since?: EpochSeconds | undefined
  readonly until?: EpochSeconds | undefined
  readonly order: BlockRange['order']
}

/**
 * Says where in a project's audit trail the entries of a search are, so that not every block is read. It is made from
 * the blocks. The core compares each entry with the search, and searches without the index what it does not cover.
 */
export interface TrailIndex {
  /** The entries that the index covers; `undefined`: none. */
  covered(projectId: string): Promise<SeqRange | undefined>
  /** The numbers of entries that may match, or a range in which each entry may, in the order of the search. */
  find(
    projectId: string,
    search: TrailSearch,
  ): AsyncGenerator<SeqRange | { readonly seqs: readonly number[] }>
  /** Indexes what is not indexed yet. Called before entries are archived. */
  complete(projectId: string): Promise<unknown>
  /** Forgets the entries up to this one, which leave the trail. Calls `keepLease` between its steps. */
  forget(projectId: string, lastSeq: number, keepLease: () => Promise<void>): Promise<void>
}

/** Every search reads the blocks. */
export const NO_INDEX: TrailIndex = {
  covered: async () => undefined,
  async *find(_, { from, to }) {
    yield { from, to }
  },
  complete: async () => {},
  forget: async () => {},
}
