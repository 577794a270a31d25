import type { Mutation } from '../../mutants/mutation.ts'

export const oxp: readonly Mutation[] = [
  {
    rows: [],
    fault: 'two users share a call_id at an OXP server',
    file: 'src/tools/call-key.ts',
    from: '[tool.projectId, apiKey?.id, userId, toolId(tool), callId]',
    to: '[tool.projectId, apiKey?.id, toolId(tool), callId]',
    test: 'features/oxp/api.test.ts',
    name: 'is its user’s own at the server behind',
  },
  {
    rows: [],
    fault: 'a worker whose feature is absent breaks the answers about it',
    file: 'src/tools/backends.ts',
    from: 'ofFeatures.get(type) ?? withoutBackend(type)',
    to: '(ofFeatures.get(type) as Backend)',
    test: 'features/oxp/absent.test.ts',
    name: 'an OXP server is no type of worker, and a stored one says so',
  },
]
