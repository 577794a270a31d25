import type { Mutation } from '../../mutants/mutation.ts'

export const explain: readonly Mutation[] = [
  {
    rows: [],
    fault: 'a refused client secret is not said to be unreadable where it was encoded',
    file: 'src/domain/causes.ts',
    from: "authentication === 'client_secret_basic' ? UNENCODED : ''",
    to: "authentication === 'client_secret_basic' ? '' : ''",
    test: 'features/explain/explain.test.ts',
    name: 'is printed by gatepass explain, as text and as JSON',
  },
]
