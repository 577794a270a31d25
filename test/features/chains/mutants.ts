import type { Mutation } from '../../mutants/mutation.ts'

export const chains: readonly Mutation[] = [
  {
    rows: [],
    fault: 'a chain of a restored backup can be resumed a second time',
    file: 'src/features/chains/store.ts',
    from: '      yield* drop({})\n',
    to: '',
    test: 'store/sqlite.test.ts',
    name: 'of a restored backup are deleted',
  },
  {
    rows: [],
    fault: 'a chain that waits can be resumed after a day',
    file: 'src/features/chains/paused-chain.ts',
    from: 'const PAUSED_SECONDS = 24 * 3600',
    to: 'const PAUSED_SECONDS = 240 * 3600',
    test: 'features/chains/api.test.ts',
    name: 'expires in a day, and its steps lie sealed in the database',
  },
  {
    rows: ['38'],
    fault: 'another user resumes a chain',
    file: 'src/features/chains/run-chain.ts',
    from: 'if (state.call.userId !== run.userId) throw noSuchChain()',
    to: '',
    test: 'features/chains/api.test.ts',
    name: "is its user's and its project's alone",
  },
  {
    rows: ['25'],
    fault: 'a paused chain runs the tool of another source',
    file: 'src/features/chains/run-chain.ts',
    from: '    await checkSource(broker, tool, source)\n',
    to: '',
    test: 'threats/tool-names.test.ts',
    name: 'a paused chain runs its steps',
  },
]
