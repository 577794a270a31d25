/** In which order users are drawn. */
export type Draw = 'uniform' | 'zipf' | { readonly inTurnFrom: number }

/** A prime, so that neighbours in rank are no neighbours in the database. */
const SPREAD = 611_953

/** Returns a function that gives the index of the next user, below `count`. */
export function drawing(draw: Draw, count: number): () => number {
  if (draw === 'uniform') return () => Math.floor(Math.random() * count)
  if (draw === 'zipf') return zipf(count)
  let next = draw.inTurnFrom
  return () => next++ % count
}

/** The user of rank n is drawn in proportion to 1/n. */
function zipf(count: number): () => number {
  const sums = new Float64Array(count)
  let sum = 0
  for (let rank = 0; rank < count; rank++) {
    sum += 1 / (rank + 1)
    sums[rank] = sum
  }
  return () => {
    const wanted = Math.random() * sum
    let [low, high] = [0, count - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sums[middle] as number) < wanted)
        low = middle + 1 // every index has one
      else high = middle
    }
    return (low * SPREAD) % count
  }
}
