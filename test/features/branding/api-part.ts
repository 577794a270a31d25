import type { ApiPart } from '../../http/api-part.ts'

export const branding: ApiPart = {
  roles: {
    'PATCH /v1/admin/projects/{id}/branding': 'admin',
    'GET /v1/admin/projects/{id}/branding': 'readonly',
    'POST /v1/admin/projects/{id}/branding/domain/verify': 'admin',
  },
}
