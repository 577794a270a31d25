import type { Toolset } from '../../../src/features/toolsets/domain.ts'

export function toolset(of: Partial<Toolset> & Pick<Toolset, 'projectId'>): Toolset {
  return { id: 'toolset', namespaces: ['demo'], names: 'prefixed', createdAt: 1, updatedAt: 1, ...of }
}
