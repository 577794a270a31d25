import type { Mutation } from '../mutation.ts'

// The page on which users see and delete their connections: its tickets, its sessions, and the deletion of a user.

const TICKETS = 'src/store/portal-tickets.ts'
const ENTER = 'src/http/portal/enter.ts'
const PORTAL = 'http/portal.test.ts'
const STORED = 'store/sqlite.test.ts'
const ERASE = 'src/flows/portal/erase-user.ts'
const ERASED = 'deletes everything: only the trail is left'

export const portal: readonly Mutation[] = [
  {
    rows: ['6', '45'],
    fault: 'a link to /me can be used again and again',
    file: TICKETS,
    from: 'query.delete(portalTickets).where(isLive(p)).returning(),',
    to: 'query.select().from(portalTickets).where(isLive(p)),',
    test: STORED,
    name: 'are spent once, before they expire',
  },
  {
    rows: ['6', '45'],
    fault: 'a link to /me never expires',
    file: TICKETS,
    from: 'and(eq(portalTickets.hash, p.hash), gt(portalTickets.expiresAt, p.now))',
    to: 'and(eq(portalTickets.hash, p.hash))',
    test: STORED,
    name: 'are spent once, before they expire',
  },
  {
    rows: ['6'],
    fault: 'opening a link to /me spends it',
    file: ENTER,
    from: '    pageHeaders(c, { hasForm: true })\n',
    to: '    await enterPortal(broker, ticket, {})\n    pageHeaders(c, { hasForm: true })\n',
    test: PORTAL,
    name: 'looking at it spends nothing',
  },
  {
    rows: ['6', '45'],
    fault: 'another site puts its visitor into a session of its own user',
    file: ENTER,
    from: "if (!isFromOwnPage(c, broker, { withoutHeaders: 'refused' })) return gone(c)",
    to: '',
    test: PORTAL,
    name: 'is not spent by another site',
  },
  {
    rows: ['32'],
    fault: 'a ticket that was altered in the database opens what its row says',
    file: 'src/flows/portal/portal-link.ts',
    from: 'return found && broker.confirmations.isProof(proof, subjectOf(random, found)) ? found : undefined',
    to: 'return found',
    test: PORTAL,
    name: 'that was given another user or more rights in the database is none',
  },
  {
    rows: ['45'],
    fault: 'a session of /me may do more than its ticket allows',
    file: 'src/flows/portal/portal-rights.ts',
    from: "if (!session.may.includes(right)) return 'missing'",
    to: '',
    test: PORTAL,
    name: 'without the right changes nothing, and the page has no such button',
  },
  {
    rows: ['45'],
    fault: 'an old login is enough for a download and for a deletion',
    file: 'src/flows/portal/portal-rights.ts',
    from: "return isRecentLogin(broker, session) ? 'given' : 'log in'",
    to: "return 'given'",
    test: 'http/portal-login.test.ts',
    name: 'download and deletion need a login of the last five minutes',
  },
  {
    rows: ['45'],
    fault: 'a form of /me is accepted from any site',
    file: 'src/http/portal/me-session.ts',
    from: 'if (!sessions.isOwnForm(c, session, form))',
    to: "if (form.has('never'))",
    test: PORTAL,
    name: 'changes nothing',
  },
  {
    rows: ['45'],
    fault: 'the session that a browser had before a login can still be used',
    file: 'src/store/page-sessions.ts',
    from: 'if (replaces !== undefined) yield* end({ id: replaces })',
    to: '',
    test: PORTAL,
    name: 'of another user replaces the one before',
  },
  {
    rows: ['45'],
    fault: 'the later of two concurrent changes of a session overwrites the earlier',
    file: 'src/store/page-sessions.ts',
    from: 'and(eq(pageSessions.id, p.id), eq(pageSessions.payload, p.before))',
    to: 'and(eq(pageSessions.id, p.id))',
    test: STORED,
    name: 'change once of two that race',
  },
  {
    rows: [],
    fault: 'the inputs and outputs of runs stay when their user deletes everything',
    file: ERASE,
    from: 'await store.executions.forgetUser(projectId, userId, now())',
    to: '',
    test: PORTAL,
    name: ERASED,
  },
  {
    rows: [],
    fault: 'the session of a user who has deleted everything can still be used',
    file: ERASE,
    from: "await store.pageSessions.endOf('me', projectId, userId)",
    to: '',
    test: PORTAL,
    name: ERASED,
  },
  {
    rows: [],
    fault: 'a pending authorization is kept when its user deletes everything',
    file: ERASE,
    from: 'await endAuthorizations(broker, owner)',
    to: '',
    test: PORTAL,
    name: ERASED,
  },
]
