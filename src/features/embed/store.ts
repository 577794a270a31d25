import type { Database } from '../../store/database.ts'
import type { ProtectedTables } from '../../store/protection.ts'
import { valuesOf } from '../../store/signed-rows.ts'
import type { StorePart } from '../../store/store-part.ts'
import type { ConnectSession } from './domain.ts'
import { describeConnectSessions } from './schema.ts'
import { createConnectSessions } from './store-sessions.ts'

declare module '../../store/part-types.ts' {
  interface PartTables extends ReturnType<typeof describeConnectSessions> {}
  interface PartNouns extends Readonly<ReturnType<typeof createNouns>> {}
}

const PROTECTED = {
  connectSessions: {
    signed: {
      mac: {
        kind: 'connect_sessions',
        // without the number of restarts, which grants nothing
        members: valuesOf<ConnectSession>(
          'id',
          'projectId',
          'userId',
          'tokenHash',
          'authorizationId',
          'origin',
          'createdAt',
          'expiresAt',
        ),
      },
      // one browser may open a session while another request restarts it
      openerMac: {
        kind: 'opener',
        members: ({ id, openerHash, openedIn }: Pick<ConnectSession, 'id' | 'openerHash' | 'openedIn'>) =>
          openerHash === undefined ? undefined : [id, openerHash, openedIn],
      },
    },
  },
} as const satisfies ProtectedTables

export const embedStore: StorePart = {
  tables: describeConnectSessions,
  nouns: createNouns,
  protects: PROTECTED,
  signed({ connectSessions }, signing) {
    const session = signing(PROTECTED.connectSessions.signed)
    return {
      connectSessions: {
        ...connectSessions,
        add: (row, ...rest) => connectSessions.add(session.sign(row), ...rest),
        find: async (id) => session.check(await connectSessions.find(id)),
        findByToken: async (tokenHash) => session.check(await connectSessions.findByToken(tokenHash)),
        async open(id, opener, ...rest) {
          const openerMac = session.macs.openerMac({ id, ...opener })
          return session.check(await connectSessions.open(id, { ...opener, openerMac }, ...rest))
        },
        restart(before, { authorizationId }, ...rest) {
          const mac = session.macs.mac({ ...before, authorizationId })
          return connectSessions.restart(before, { authorizationId, mac }, ...rest)
        },
      },
    }
  },
  // a session that has ended since the backup must not begin another authorization
  restore({ tables: { connectSessions }, query, statement }) {
    const drop = statement((_: object) => query.delete(connectSessions).returning({ id: connectSessions.id }))
    return function* () {
      yield* drop({})
    }
  },
}

function createNouns(database: Database) {
  return { connectSessions: createConnectSessions(database) }
}
