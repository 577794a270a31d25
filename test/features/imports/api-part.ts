import type { ApiPart } from '../../http/api-part.ts'

export const imports: ApiPart = {
  roles: {
    'POST /v1/admin/user_connections/import': 'admin',
  },
}
