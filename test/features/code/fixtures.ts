import { newId } from '../../../src/domain/ids.ts'
import type { PausedCode } from '../../../src/features/code/domain.ts'
import { sealed } from '../../store/fixtures.ts'

export function pausedCode(of: Partial<PausedCode> & Pick<PausedCode, 'projectId'>): PausedCode {
  return { id: newId('code'), state: sealed('state'), expiresAt: 100, ...of }
}
