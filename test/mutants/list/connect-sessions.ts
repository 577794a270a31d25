import type { Mutation } from '../mutation.ts'

// Sessions in which pages of applications let users connect: the checks of token, origin and browser.

const FLOW = 'src/features/embed/connect-session.ts'
const CURRENT = 'src/features/embed/routes-endpoints.ts'
const SESSIONS = 'features/embed/connect-sessions.test.ts'

export const connectSessions: readonly Mutation[] = [
  {
    rows: ['6', '13'],
    fault: 'the link of a session is shown in any browser that has opened some session',
    file: FLOW,
    from: "return session?.openerHash === sha256(opener) ? (session.openedIn ?? 'tab') : undefined",
    to: 'return session?.openedIn',
    test: SESSIONS,
    name: 'that opens the session last has it; an earlier one loses it',
  },
  {
    rows: ['6', '13'],
    fault: 'a click on the link of a session is accepted in every browser',
    file: 'src/flows/start-attempt.ts',
    from: 'if (!(await mayClick(broker, authorization, openerOf))) {',
    to: "if (authorization.id === '') {",
    test: SESSIONS,
    name: 'that did not open the session can neither see its page nor click',
  },
  {
    rows: ['13'],
    fault: 'a page of any origin opens a session',
    file: FLOW,
    from: "return origin === allowed || (origin === 'null' && settings.verifier.kind !== 'open')",
    to: 'return origin !== undefined || settings.verifier === undefined || allowed !== undefined',
    test: SESSIONS,
    name: 'is of no use from',
  },
  {
    rows: ['13'],
    fault: 'the token of a session is accepted from every origin',
    file: CURRENT,
    from: "if (found.outcome !== 'unknown' && origin !== found.session.origin)",
    to: "if (found.outcome !== 'unknown' && origin === '')",
    test: SESSIONS,
    name: 'is of no use from',
  },
  {
    rows: ['13'],
    fault: 'a session can be used after its end',
    file: 'src/features/embed/domain.ts',
    from: 'return now < expiresAt && (settledAt === undefined || now < settledAt + ENDED_SESSION_SECONDS)',
    to: 'return now < expiresAt || settledAt === now',
    test: SESSIONS,
    name: 'ends after 15 minutes, and 60 seconds after its authorization',
  },
]
