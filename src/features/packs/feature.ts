import type { Feature } from '../feature.ts'

/** Ready-made tools of services, as data. */
export const packs: Feature = {
  commands: [
    {
      name: 'packs',
      after: 'tools',
      description: 'ready-made tools of services: list (the default), show, try, add, update, init, check',
      load: async () => (await import('./command.ts')).definePacks,
    },
  ],
  operations: () => import('./operations.ts'),
  pages: async () => (await import('./console.ts')).packPages,
  routes: async () => (await import('./routes.ts')).packRoutes,
  settings: async () => (await import('./settings.ts')).packSettings,
  jobs: async () => (await import('./checks-at-start.ts')).packJobs,
  installationChecks: async () => (await import('./checks.ts')).checkPacks,
  simulation: async () => (await import('./command-simulation.ts')).simulatePacks,
}
