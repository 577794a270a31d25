import { newId } from '../../../src/domain/ids.ts'
import type { Webhook } from '../../../src/features/webhooks/domain.ts'
import { sealed } from '../../store/fixtures.ts'

export function webhook(of: Partial<Webhook> & Pick<Webhook, 'projectId'>): Webhook {
  return {
    id: newId('wh'),
    url: 'https://receiver.example/',
    enabled: true,
    secret: sealed('whsec_1'),
    failures: 0,
    createdAt: 1,
    updatedAt: 1,
    ...of,
  }
}
