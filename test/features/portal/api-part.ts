import type { ApiPart } from '../../http/api-part.ts'

export const portal: ApiPart = {
  roles: {
    'POST /v1/users/{user_id}/portal': 'caller',
  },
}
