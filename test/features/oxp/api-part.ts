import type { ApiPart } from '../../http/api-part.ts'

export const oxp: ApiPart = {
  roles: {
    'GET /oxp/health': 'public',
    'GET /oxp/tools': 'readonly',
    'POST /oxp/tools/call': 'caller',
  },
}
