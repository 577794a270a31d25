import type { Feature } from '../feature.ts'

/** Says why an authorization or a connection does not work, by the causes that `flows/explain/` finds. */
export const explain: Feature = {
  commands: [
    {
      name: 'explain',
      after: 'connections',
      description:
        'why an authorization or a connection does not work: each step, the cause, and what to change',
      load: async () => (await import('./command.ts')).defineExplain,
    },
  ],
  operations: () => import('./operations.ts'),
}
