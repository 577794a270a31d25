import type { Mutation } from '../mutation.ts'

// The page on which users see and delete their connections: its tickets, its sessions, and the deletion of a user.

const STORED = 'store/sqlite.test.ts'

export const portal: readonly Mutation[] = [
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
    rows: ['36'],
    fault: 'a restored backup keeps what features would have deleted',
    file: 'src/store/settle-restore.ts',
    from: 'for (const restore of ofParts) yield* restore()',
    to: '',
    test: 'store/sqlite.test.ts',
    name: 'of a restored backup are deleted',
  },
  {
    rows: ['45'],
    fault: 'a copy of the session cookie works after the log-out',
    file: 'src/http/connect/session-login.ts',
    from: '  await endPageSession(broker, cookies.session(c))\n',
    to: '',
    test: 'http/user-session.test.ts',
    name: 'after the log-out of /me',
  },
  {
    rows: ['45'],
    fault: 'a session of a user who has deleted everything works on, where it began in another project',
    file: 'src/flows/user-session.ts',
    from: "settings.verifier.kind === 'oidc' ? undefined : projectId",
    to: 'projectId',
    test: 'http/user-session.test.ts',
    name: 'once the user has deleted everything',
  },
  {
    rows: [],
    fault: 'an approval that permits nothing any more looks like one that does',
    file: 'src/flows/mcp-clients.ts',
    from: "if (!hasAccess(broker, consent)) return 'nothing'",
    to: '',
    test: 'mcp/authorization-server-verifier.test.ts',
    name: 'an approval that another verifier made possible permits nothing',
  },
]
