import type { Feature } from '../feature.ts'

/** Runs of tools at a later time, by any process, also after restarts. */
export const scheduledRuns: Feature = {
  subcommands: [
    {
      of: 'runs',
      name: 'cancel',
      description: 'cancel a scheduled run that has not begun',
      load: async () => (await import('./command.ts')).defineCancel,
    },
  ],
  store: async () => (await import('./store.ts')).scheduledRunStore,
  operations: () => import('./operations.ts'),
  pages: async () => (await import('./console.ts')).scheduledRunPages,
  jobs: async () => (await import('./scheduler.ts')).scheduledRunJobs,
  runLater: async () => (await import('./schedule-tool.ts')).scheduleTool,
  upgrade: async () => (await import('./scheduled-run-upgrade.ts')).signScheduledRuns,
}
