import type { Policy } from '../../../src/features/policies/domain.ts'

export function policy(of: Partial<Policy> & Pick<Policy, 'projectId'>): Policy {
  return { id: 'policy', enabled: true, effect: 'deny', match: {}, createdAt: 1, updatedAt: 1, ...of }
}
