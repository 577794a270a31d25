import type { UseOfFeature } from '../../store/every-request.ts'

export const usePacks: UseOfFeature = async ({ call }) => {
  await call('GET', '/v1/packs')
  await call('GET', '/v1/packs/{id}', undefined, { id: 'gmail' })
  await call('POST', '/v1/packs', { id: 'spotify', approvals: false })
  await call('POST', '/v1/packs/{id}/update', {}, { id: 'spotify' })
  await call('DELETE', '/v1/workers/{id}', undefined, { id: 'spotify' }) // for the next round
}
