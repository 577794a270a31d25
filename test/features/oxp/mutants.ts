import type { Mutation } from '../../mutants/mutation.ts'

export const oxp: readonly Mutation[] = [
  {
    rows: [],
    fault: 'two users share a call_id at an OXP server',
    file: 'src/tools/oxp/backend.ts',
    from: '[tool.projectId, apiKey?.id, userId, toolId(tool), callId]',
    to: '[tool.projectId, apiKey?.id, toolId(tool), callId]',
    test: 'features/oxp/api.test.ts',
    name: 'is its user’s own at the server behind',
  },
]
