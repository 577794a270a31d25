import { randomUUID } from 'node:crypto'
import { newId } from '../../../src/domain/ids.ts'
import type { ConnectSession } from '../../../src/features/embed/domain.ts'

export function connectSession(
  of: Partial<ConnectSession> & Pick<ConnectSession, 'projectId'>,
): ConnectSession {
  return {
    id: newId('cs'),
    userId: 'u1',
    tokenHash: randomUUID(),
    authorizationId: 'auth_a',
    origin: 'https://app.example',
    restarts: 0,
    createdAt: 1,
    expiresAt: 100,
    ...of,
  }
}
