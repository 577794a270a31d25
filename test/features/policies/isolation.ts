import type { PrepareAlpha } from '../../threats/alpha-part.ts'

export const policyOfAlpha: PrepareAlpha = async (alpha) => {
  await alpha('POST', '/v1/admin/policies', {
    id: 'alpha-policy',
    description: 'alpha-description-of-the-policy',
    effect: 'hook',
    match: { users: ['alpha-user-of-the-policy'] },
    hook: { url: 'http://127.0.0.1:1/alpha-hook-of-the-policy', secret: 'alpha-secret-value-of-the-policy' },
  })
  return {
    twins: [['alpha-policy', 'omega-policy']],
    marks: ['alpha-hook-of-the-policy', 'alpha-user-of-the-policy'],
  }
}
