import type { UseOfFeature } from '../../store/every-request.ts'

export const useChains: UseOfFeature = ({ call, userId, run }) =>
  call('POST', '/v1/tools/run_chain', {
    steps: [{ toolId: run.tool_name, args: run.input }],
    user_id: userId,
  })
