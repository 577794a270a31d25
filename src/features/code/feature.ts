import type { Feature } from '../feature.ts'

/** Runs code that calls tools, in threads with QuickJS, which hold nothing of the broker. */
export const code: Feature = {
  store: async () => (await import('./store.ts')).codeStore,
  operations: () => import('./operations.ts'),
  metrics: async () => (await import('./run-slots.ts')).slotsOf,
  jobs: async () => ({ sweep: ({ store, now }) => store.pausedCode.sweep(now()) }),
}
