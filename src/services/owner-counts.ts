/** Counts what each owner (`Principal.owner`) holds at a time, such as open streams, for a limit. */
export interface OwnerCounts {
  of(owner: string): number
  /** Counts one more. Returns the function that counts it off, to be called once. */
  add(owner: string): () => void
}

export function createOwnerCounts(): OwnerCounts {
  const counts = new Map<string, number>()
  const of = (owner: string) => counts.get(owner) ?? 0
  return {
    of,
    add(owner) {
      counts.set(owner, of(owner) + 1)
      return () => {
        const left = of(owner) - 1
        if (left > 0) counts.set(owner, left)
        else counts.delete(owner) // so that the map does not keep every owner
      }
    },
  }
}
