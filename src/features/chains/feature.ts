import type { Feature } from '../feature.ts'

/** Several tools in a row. A chain whose next step needs a consent is stored, and resumed after it. */
export const chains: Feature = {
  store: async () => (await import('./store.ts')).chainStore,
  operations: () => import('./operations.ts'),
  pages: async () => (await import('./console.ts')).chainPages,
  jobs: async () => ({ sweep: ({ store, now }) => store.chains.sweep(now()) }),
}
