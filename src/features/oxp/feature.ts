import type { Feature } from '../feature.ts'

/** Serves the tools in the dialect of the Open Execution Protocol. Workers that speak it are called by `tools/oxp/`. */
export const oxp: Feature = {
  operations: () => import('./operations.ts'),
}
