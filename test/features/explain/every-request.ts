import type { UseOfFeature } from '../../store/every-request.ts'

export const useExplain: UseOfFeature = async ({ call, authorization, connection }) => {
  await call('GET', '/v1/auth/{id}/explain', undefined, authorization)
  await call('GET', '/v1/connections/{id}/explain', undefined, connection)
}
