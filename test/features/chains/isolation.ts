import type { PrepareAlpha } from '../../threats/alpha-part.ts'

export const chainOfAlpha: PrepareAlpha = async (alpha, { input }) => {
  const { resume, requires_authorization } = await alpha('POST', '/v1/tools/run_chain', {
    steps: [{ toolId: 'Demo.Echo', args: input }, { toolId: 'Demo.WhoAmI' }],
    user_id: 'alpha-third-user',
  })
  return {
    ids: [resume, requires_authorization.id],
    twins: [['alpha-third-user', 'omega-third-user']],
  }
}
