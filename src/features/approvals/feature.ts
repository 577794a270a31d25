import type { Feature } from '../feature.ts'

/** People who decide about calls: what a policy of the effect `approve` asks for. */
export const approvals: Feature = {
  commands: [
    {
      name: 'approvals',
      after: 'runs',
      description: 'calls that wait for a person: list (the default), show, approve, deny',
      load: async () => (await import('./command.ts')).defineApprovals,
    },
    {
      name: 'standing-approvals',
      after: 'runs',
      description: 'approvals that cover further calls, and blocked agents: list (the default), remove',
      load: async () => (await import('./command-standing.ts')).defineStandingApprovals,
    },
  ],
  store: async () => (await import('./store.ts')).approvalStore,
  approvals: async () => (await import('./approvals-of-broker.ts')).createCallApprovals,
  routes: async () => (await import('./routes.ts')).approvalRoutes,
  operations: () => import('./operations.ts'),
  pages: async () => (await import('./console.ts')).approvalPages,
  jobs: async () => (await import('./expire-approvals.ts')).approvalJobs,
}
