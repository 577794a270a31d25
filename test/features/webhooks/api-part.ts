import type { ApiPart } from '../../http/api-part.ts'

export const webhooks: ApiPart = {
  roles: {
    'GET /v1/webhooks': 'readonly',
    'GET /v1/webhooks/{id}': 'readonly',
    'GET /v1/webhooks/{id}/deliveries': 'readonly',
    'POST /v1/webhooks': 'admin',
    'PATCH /v1/webhooks/{id}': 'admin',
    'DELETE /v1/webhooks/{id}': 'admin',
    'POST /v1/webhooks/{id}/rotate': 'admin',
    'POST /v1/webhooks/{id}/test': 'admin',
    'POST /v1/webhooks/{id}/replay': 'admin',
  },
  faults: [['POST', '/v1/webhooks', { types: ['x'] }, ['url', 'types.0']]],
}
