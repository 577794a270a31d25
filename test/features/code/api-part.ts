import type { ApiPart } from '../../http/api-part.ts'

export const code: ApiPart = {
  roles: {
    'POST /v1/code/execute': 'caller',
  },
}
