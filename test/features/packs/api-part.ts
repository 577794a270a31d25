import type { ApiPart } from '../../http/api-part.ts'

export const packs: ApiPart = {
  roles: {
    'GET /v1/packs': 'readonly',
    'GET /v1/packs/{id}': 'readonly',
    'POST /v1/packs': 'admin',
    'POST /v1/packs/{id}/update': 'admin',
  },
}
