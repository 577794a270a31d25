import type { ApiPart } from '../../http/api-part.ts'

export const explain: ApiPart = {
  roles: {
    'GET /v1/connections/{id}/explain': 'readonly',
    'GET /v1/auth/{id}/explain': 'readonly',
  },
}
