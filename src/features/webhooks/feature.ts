import type { Feature } from '../feature.ts'

/** Receivers of a project's events, which are written with the change that they report. */
export const webhooks: Feature = {
  commands: [
    {
      name: 'webhooks',
      after: 'secrets',
      description:
        'receivers of events: list (the default), show, add, set, rotate, test, deliveries, replay, delete',
      load: async () => (await import('./command.ts')).defineWebhooks,
    },
  ],
  store: async () => (await import('./store.ts')).webhookStore,
  operations: () => import('./operations.ts'),
  pages: async () => (await import('./console.ts')).webhookPages,
  jobs: async () => (await import('./jobs.ts')).webhookJobs,
  checks: async () => (await import('./checks.ts')).checkWebhooks,
  attention: async () => (await import('./cause.ts')).troubledWebhooks,
}
