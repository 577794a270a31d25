import type { Feature } from '../feature.ts'

/** A search index of the audit trail, made of its blocks. */
export const auditIndex: Feature = {
  subcommands: [
    {
      of: 'audit',
      name: 'reindex',
      description: 'rebuild the search index from the audit trail; searches are slower until it is done',
      load: async () => (await import('./command.ts')).defineReindex,
    },
  ],
  store: async () => (await import('./store.ts')).indexStore,
  trailIndex: async () => (await import('./search-index.ts')).createTrailIndex,
  trailCheck: async () => (await import('./command-verify.ts')).indexCheck,
  jobs: async () => (await import('./jobs.ts')).indexJobs,
}
