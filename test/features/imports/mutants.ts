import type { Mutation } from '../../mutants/mutation.ts'

export const imports: readonly Mutation[] = [
  {
    rows: ['P7'],
    fault: 'an export is not in the audit trail',
    file: 'src/features/imports/export-connections.ts',
    from: 'await broker.audit.record(projectId, {',
    to: 'void ({',
    test: 'features/imports/command-connections.test.ts',
    name: 'moves connections whole',
  },
  {
    rows: [],
    fault: 'an export is sealed with an empty passphrase',
    file: 'src/features/imports/command-export-key.ts',
    from: 'if (passphrase.length >= SHORTEST_PASSPHRASE)',
    to: 'if (passphrase.length >= 0)',
    test: 'features/imports/command-connections.test.ts',
    name: 'is not sealed with the passphrase',
  },
]
