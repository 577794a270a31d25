import type { TrailCheck } from '../../cli/trail-check.ts'

/** `gatepass audit verify --index` */
export const indexCheck: TrailCheck = {
  kind: 'also',
  option: 'index',
  flags: '--index',
  description: 'also check that the search index has every entry',
  async faultsOf(broker, projectId) {
    const { verifyIndex } = await import('./verify-index.ts')
    return verifyIndex(broker, projectId)
  },
  member: 'index_faults',
  failure: 'Searches of the audit trail may miss entries. Rebuild the index with `gatepass audit reindex`.',
}
