import type { Feature } from '../feature.ts'

/** Moves old entries of the audit trail into files, which can be verified, and the trail goes on from a signed anchor. */
export const auditArchive: Feature = {
  subcommands: [
    {
      of: 'audit',
      name: 'archive',
      description: 'move old entries from the trail into files, which can be verified',
      load: async () => (await import('./command.ts')).defineArchive,
    },
  ],
  settings: async () => (await import('./settings.ts')).archiveSettings,
  store: async () => (await import('./store.ts')).archiveStore,
  trailCheck: async () => (await import('./command-verify.ts')).archiveCheck,
  jobs: async () => (await import('./jobs.ts')).archiveJobs,
  checks: async () => (await import('./checks.ts')).checkAuditTrail,
}
