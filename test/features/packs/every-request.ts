import type { UseOfFeature } from '../../store/every-request.ts'

export const usePacks: UseOfFeature = async ({ call }) => {
  await call('GET', '/v1/packs')
  await call('GET', '/v1/packs/{id}', undefined, { id: 'gmail' })
}
