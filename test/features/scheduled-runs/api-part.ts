import type { ApiPart } from '../../http/api-part.ts'

export const scheduledRuns: ApiPart = {
  roles: {
    'GET /v1/scheduled_tools': 'readonly',
    'GET /v1/scheduled_tools/{id}': 'caller',
    'DELETE /v1/scheduled_tools/{id}': 'caller',
  },
}
