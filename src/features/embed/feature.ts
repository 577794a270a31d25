import type { Feature } from '../feature.ts'

/** Connect sessions: a page of an application lets its user connect an account. */
export const embed: Feature = {
  store: async () => (await import('./store.ts')).embedStore,
  operations: () => import('./operations.ts'),
  endpoints: async () => (await import('./routes-endpoints.ts')).addSessionEndpoints,
  routes: async () => (await import('./routes.ts')).embedRoutes,
  openers: async () => (await import('./connect-session.ts')).createOpeners,
  jobs: async () => ({ sweep: (await import('./connect-session.ts')).sweepConnectSessions }),
}
