import { newId } from '../../../src/domain/ids.ts'
import type { PausedChain } from '../../../src/features/chains/domain.ts'
import { sealed } from '../../store/fixtures.ts'

export function chain(of: Partial<PausedChain> & Pick<PausedChain, 'projectId'>): PausedChain {
  return { id: newId('chain'), state: sealed('state'), expiresAt: 100, ...of }
}
