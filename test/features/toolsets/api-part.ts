import type { ApiPart } from '../../http/api-part.ts'

export const toolsets: ApiPart = {
  roles: {
    'GET /v1/toolsets': 'readonly',
    'GET /v1/toolsets/{id}': 'readonly',
    'GET /v1/toolsets/{id}/tools': 'readonly',
    'POST /v1/toolsets': 'admin',
    'PATCH /v1/toolsets/{id}': 'admin',
    'DELETE /v1/toolsets/{id}': 'admin',
  },
}
