import { configureGlobal } from 'fast-check'
import { propertyRuns } from './property-runs.ts'

/**
 * Property tests draw the same input in every run, so that a run can be repeated. `npm run test:ten` gives each of its
 * runs another seed, and prints it; `TEST_SEED=7 npm run test:all` uses the seed 7.
 */
configureGlobal({ seed: Number(process.env.TEST_SEED ?? 1), numRuns: propertyRuns() })
