import type { UseOfFeature } from '../../store/every-request.ts'

export const useCode: UseOfFeature = ({ call, userId }) =>
  call('POST', '/v1/code/execute', { code: 'return 1', user_id: userId })
