import type { ApiPart } from '../../http/api-part.ts'

export const chains: ApiPart = {
  roles: {
    'POST /v1/tools/run_chain': 'caller',
  },
  faults: [
    [
      'POST',
      '/v1/tools/run_chain',
      { steps: [{ usePrevious: 1 }] },
      ['steps.0.toolId', 'steps.0.usePrevious'],
    ],
  ],
}
