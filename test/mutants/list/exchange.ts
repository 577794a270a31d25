import type { Mutation } from '../mutation.ts'

const EXCHANGE = 'flows/token-exchange.test.ts'

export const exchange: readonly Mutation[] = [
  {
    rows: ['80'],
    fault: 'a tool may say whose token its provider exchanges',
    file: 'src/tools/metadata/read-oauth-entry.ts',
    from: "if (member(entry, 'grant', path, warn) !== undefined)",
    to: "if (member(entry, 'grant', path, warn) === null)",
    test: EXCHANGE,
    name: 'a tool that is imported names no token to exchange',
  },
  {
    rows: ['80'],
    fault: 'a caller that needs the exchanged token is given that of the subject',
    file: 'src/flows/connection-token.ts',
    from: 'of brings ?? [{ providerUid: uid, scopes: [] }]) {',
    to: 'of [{ providerUid: brings === undefined ? uid : uid, scopes: [] }]) {',
    test: EXCHANGE,
    name: 'a user without the subject gets its link',
  },
  {
    rows: ['80'],
    fault: 'exchanged tokens outlive the connection that they come from',
    file: 'src/store/connections.ts',
    from: 'if (gone !== undefined) yield* removeDerived(announce, gone)',
    to: 'if (gone === undefined) yield* removeDerived(announce, known)',
    test: EXCHANGE,
    name: 'deleting the subject deletes the exchanged tokens',
  },
  {
    rows: ['80'],
    fault: 'exchanged tokens of the former account outlive a new consent',
    file: 'src/store/connection-writes.ts',
    from: 'if (before !== undefined) yield* removeDerived(announce, connection)',
    to: 'if (before === undefined) yield* removeDerived(announce, connection)',
    test: EXCHANGE,
    name: 'a new consent at the subject ends the exchanged tokens',
  },
  {
    rows: ['81'],
    fault: 'an answer for another type of token is accepted',
    file: 'src/providers/token-response.ts',
    from: 'if (issued !== requested)',
    to: "if (issued === '')",
    test: EXCHANGE,
    name: 'an answer with %s is refused',
  },
  {
    rows: ['81'],
    fault: 'the parameters of an entry may replace the token that is exchanged',
    file: 'src/providers/definition/exchange-subject.ts',
    from: "const SET = ['subject_token', 'subject_token_type']",
    to: 'const SET: readonly string[] = []',
    test: EXCHANGE,
    name: 'the entry refuses',
  },
  {
    rows: ['80'],
    fault: 'a rule that denies the subject does not bind the exchanged token',
    file: 'src/features/policies/policy-match.ts',
    from: 'return subjectId === undefined ? [id] : [id, subjectId]',
    to: 'return subjectId === undefined ? [id] : [id]',
    test: 'flows/token-exchange.test.ts',
    name: 'a rule that denies the subject binds the exchanged token',
  },
]
