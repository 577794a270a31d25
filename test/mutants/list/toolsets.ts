import type { Mutation } from '../mutation.ts'

// Names in toolsets: which tool each of them means.

export const toolsets: readonly Mutation[] = [
  {
    rows: ['25'],
    fault: 'the bare name of a tool that is gone calls another tool that has it as an alias',
    file: 'src/mcp/endpoint/tool-lists.ts',
    from: '(isRetired(name) ? undefined : await findByAlias(name))',
    to: '(await findByAlias(name))',
    test: 'features/toolsets/mcp.test.ts',
    name: 'the bare name of a tool that is gone calls no other tool',
  },
  {
    rows: ['25'],
    fault: 'a toolset keeps the name of a tool, which another tool may take over',
    file: 'src/features/toolsets/toolset-settings.ts',
    from: '{ id: idAsWritten(tool, name), source',
    to: '{ id: name, source',
    test: 'features/toolsets/api.test.ts',
    name: 'keeps ids of the tools it names',
  },
  {
    rows: ['25'],
    fault: 'a bare name is free as soon as its tool is gone',
    file: 'src/features/toolsets/toolset-names.ts',
    from: 'kept.length > tools.length * (1 + KEPT.forEach) + KEPT.always',
    to: 'kept.length > 0',
    test: 'features/toolsets/api.test.ts',
    name: 'stays with its tool when tools come, go and get versions',
  },
]
