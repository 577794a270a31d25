import type { Feature } from '../feature.ts'

/** Users' own page, `/me`: what they have connected, and how they end it. */
export const portal: Feature = {
  store: async () => (await import('./store.ts')).portalStore,
  commands: [
    {
      name: 'portal',
      after: 'mcp',
      description: "print a one-time link to a user's own page",
      load: async () => (await import('./command.ts')).definePortal,
    },
  ],
  operations: () => import('./operations.ts'),
  routes: async () => (await import('./routes.ts')).portalRoutes,
  ownPage: async () => (await import('./portal-link.ts')).PORTAL_PATH,
  jobs: async () => ({ sweep: (await import('./portal-link.ts')).sweepPortalTickets }),
}
