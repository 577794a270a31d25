import type { PrepareAlpha } from '../../threats/alpha-part.ts'

export const codeOfAlpha: PrepareAlpha = async (alpha) => {
  const { resume, requires_authorization } = await alpha('POST', '/v1/code/execute', {
    code: "return tools.call('Demo.WhoAmI')",
    user_id: 'alpha-fourth-user',
  })
  return { ids: [resume, requires_authorization.id] }
}
