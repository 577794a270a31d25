import type { ApiPart } from '../../http/api-part.ts'

export const approvals: ApiPart = {
  roles: {
    'GET /v1/approvals': 'approver',
    'GET /v1/approvals/{id}': 'approver',
    'POST /v1/approvals/{id}/decision': 'approver',
    'GET /v1/admin/standing_approvals': 'readonly',
    'DELETE /v1/admin/standing_approvals/{id}': 'admin',
  },
}
