import type { Feature } from '../feature.ts'

/** The rules of a project about who may use which tokens for what. */
export const policies: Feature = {
  commands: [
    {
      name: 'policies',
      after: 'secrets',
      description: 'rules on who may use which tokens for what: list (the default), set, dry-run, delete',
      load: async () => (await import('./command.ts')).definePolicies,
    },
  ],
  store: async () => (await import('./store.ts')).policyStore,
  operations: async () => ({
    ...(await import('./operations.ts')),
    ...(await import('./operations-dry-run.ts')),
  }),
  pages: async () => (await import('./console.ts')).policyPages,
  gate: async () => (await import('./policy-gate.ts')).createPolicyGate,
}
