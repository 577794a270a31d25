import type { Mutation } from '../../mutants/mutation.ts'

const test = 'features/code/resume.test.ts'

export const code: readonly Mutation[] = [
  {
    rows: [],
    fault: 'a run that waits ends while other calls are under way, which are made again',
    file: 'src/features/code/tool-gateway.ts',
    from: "if (consent === undefined || (reply.reply === 'stop' && 'error' in reply.stop)) return reply",
    to: 'if (true) return reply',
    test,
    name: 'keeps calls that were under way at the same time',
  },
  {
    rows: [],
    fault: 'a resumed run makes the calls again',
    file: 'src/features/code/call-journal.ts',
    from: 'requests.get(requestId)?.calls[step]',
    to: 'undefined',
    test,
    name: 'goes on with two approvals, and makes no call twice',
  },
  {
    rows: [],
    fault: 'a resumed run gets its answers in another order',
    file: 'src/features/code/call-journal.ts',
    from: 'if (next === undefined || next === requestId) return undefined',
    to: 'return undefined',
    test,
    name: 'answers in the order in which the answers came',
  },
  {
    rows: ['38'],
    fault: 'another user resumes a run of code',
    file: 'src/features/code/execute-code.ts',
    from: ' || stored.call.userId !== run.call.userId',
    to: '',
    test,
    name: 'is not resumed by others',
  },
  {
    rows: [],
    fault: 'a resumed run that takes another path makes its calls',
    file: 'src/features/code/call-journal.ts',
    from: 'if (!hasCaughtUp() && known?.digest !== digest) return false',
    to: '',
    test,
    name: 'runs nothing more when the code takes another path',
  },
]
