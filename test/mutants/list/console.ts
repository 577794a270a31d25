import type { Mutation } from '../mutation.ts'

// Who may open the console, and who may change something there.

export const operatorsConsole: readonly Mutation[] = [
  {
    rows: ['45'],
    fault: 'a stolen session of the console runs tools with the tokens of any user',
    file: 'src/http/console/tools/try-page.ts',
    from: "routes.form('/tools/:id/try', run, { recent: true })",
    to: "routes.form('/tools/:id/try', run)",
    test: 'http/console-administration.test.ts',
    name: 'what gives power or deletes needs a login of the last five minutes',
  },
  {
    rows: ['45'],
    fault: 'a form of the console is accepted without the token of its session',
    file: 'src/http/page-session/page-session.ts',
    from: 'isCsrfToken(form, session.csrf)',
    to: "session.csrf !== ''",
    test: 'http/console-pages.test.ts',
    name: 'a form without its token or from another site changes nothing',
  },
  {
    rows: ['45'],
    fault: 'a session of the console never ends for being idle',
    file: 'src/flows/page-session.ts',
    from: 'seenSince: now - idle',
    to: 'seenSince: 0',
    test: 'http/console-login.test.ts',
    name: 'a session ends when it was idle for half an hour',
  },
  {
    rows: ['45'],
    fault: 'the script that polls the console keeps a session alive',
    file: 'src/flows/page-session.ts',
    from: 'if (isUse && now - row.lastSeenAt',
    to: 'if (now - row.lastSeenAt',
    test: 'http/console-login.test.ts',
    name: 'a script that asks at intervals does not keep a session alive',
  },
  {
    rows: ['45'],
    fault: 'a readonly operator changes what an administrator may',
    file: 'src/http/console/routes.ts',
    from: 'if (!readonly && !on.mayChange) {',
    to: 'if (!readonly && on.c.req.path === undefined) {',
    test: 'http/console-pages.test.ts',
    name: 'a readonly operator sees no form',
  },
  {
    rows: ['45'],
    fault: 'a form of the console changes another project than its page showed',
    file: 'src/http/console/routes.ts',
    from: 'if (!ofSession) throw',
    to: 'if (ofSession) throw',
    test: 'http/console-login.test.ts',
    name: 'a form of a page that showed another project changes nothing',
  },
  {
    rows: ['45'],
    fault: "a caller's key opens the console",
    file: 'src/flows/console/console-session.ts',
    from: "return role === 'caller' || userId !== undefined ? undefined : role",
    to: "return role === 'caller' ? 'readonly' : role",
    test: 'http/console-login.test.ts',
    name: 'gets none',
  },
]
