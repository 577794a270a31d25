import type { Feature } from '../feature.ts'

/** How long counts and access requests are kept after the end of their window or their question. */
const KEPT_SECONDS = 24 * 3600
const ACCESS_REQUESTS_MS = 1_000

/** The rules of a project about who may use which tokens for what. */
export const policies: Feature = {
  commands: [
    {
      name: 'policies',
      after: 'secrets',
      description:
        'rules on who may use which tokens for what: list (the default), set, dry-run, quotas, delete',
      load: async () => (await import('./command.ts')).definePolicies,
    },
  ],
  store: async () => (await import('./store.ts')).policyStore,
  operations: async () => ({
    ...(await import('./operations.ts')),
    ...(await import('./operations-dry-run.ts')),
    listQuotas: (await import('./operations-quotas.ts')).listQuotas,
  }),
  pages: async () => (await import('./console.ts')).policyPages,
  jobs: async () => ({
    shared: (broker) => [
      {
        intervalMs: ACCESS_REQUESTS_MS,
        async run() {
          await (await import('./advance-access-requests.ts')).advanceAccessRequests(broker)
        },
      },
    ],
    async sweep({ store, now }) {
      await store.quotaCounts.sweep(now(), KEPT_SECONDS)
      await store.accessRequests.sweep(now() - KEPT_SECONDS)
    },
  }),
  async gate() {
    const { createPolicyGate } = await import('./policy-gate.ts')
    const { judgeToolArguments } = await import('./tool-arguments.ts')
    return (parts) => createPolicyGate(parts, judgeToolArguments)
  },
}
