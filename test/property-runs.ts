/** How many inputs a property test draws: `PROPERTY_RUNS=10000 npm run test:all` makes all of them draw more. */
const RUNS = Number(process.env.PROPERTY_RUNS ?? 100)

/**
 * The number of inputs for one property: `dear` times fewer where each costs requests or threads, `rare` times more where
 * a deliberate fault in the source was found only by so many. `random-input.ts` makes a plain one the default.
 */
export function propertyRuns({ dear = 1, rare = 1 } = {}): number {
  return Math.ceil((RUNS * rare) / dear)
}
