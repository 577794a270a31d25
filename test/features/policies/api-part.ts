import type { ApiPart } from '../../http/api-part.ts'

export const policies: ApiPart = {
  roles: {
    'GET /v1/admin/policies': 'readonly',
    'GET /v1/admin/policies/{id}': 'readonly',
    'GET /v1/admin/quotas': 'readonly',
    'POST /v1/admin/policies/test': 'readonly',
    'POST /v1/admin/policies/dry_run': 'readonly',
    'POST /v1/admin/policies': 'admin',
    'PATCH /v1/admin/policies/{id}': 'admin',
    'DELETE /v1/admin/policies/{id}': 'admin',
  },
  faults: [
    ['POST', '/v1/admin/policies', { id: '..', effect: 'deny', match: {} }, ['id: letters']],
    ['POST', '/v1/admin/policies', {}, ['id', 'effect', 'match']],
    [
      'POST',
      '/v1/admin/policies',
      { id: 'p', effect: 'x', match: { time: { days: [9, 'a'] }, users: [] } },
      ['effect', 'match.time.days.0', 'match.users'],
    ],
    [
      'POST',
      '/v1/admin/policies',
      { id: 'p', effect: 'deny', match: { time: { from: '08:00', zone: 'Mars' } } },
      ['match.time.zone'],
    ],
    ['POST', '/v1/admin/policies/test', { user: 'ada' }, ['user']],
    ['POST', '/v1/admin/policies/dry_run', { policies: [{ id: 'x' }] }, ['policies.0.effect']],
  ],
}
