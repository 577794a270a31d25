import type { Log } from '../domain/log.ts'
import { createApi } from '../http/api.ts'
import { databaseName } from '../store/database-location.ts'
import { version } from '../version.ts'
import type { OpenApiOptions, Shell } from './shell.ts'
import type { Transport } from './transport.ts'
import { withBroker } from './with-broker.ts'

/**
 * Runs `run` with the API in this process, which works on the database itself. The database and the master key are
 * needed, but no API key; the audit trail names the command.
 */
export async function withLocalTransport(
  shell: Shell,
  options: OpenApiOptions,
  run: (transport: Transport) => Promise<void>,
): Promise<void> {
  await withBroker(shell, options, async (local) => {
    const { broker, project, config } = local
    const { log, heldBack } = quietLog(broker.log)
    const { app } = createApi(
      { ...broker, log },
      { version, operator: { projectId: project.id, command: shell.command ?? 'gatepass' } },
    )
    await run({
      place: databaseName(config.database),
      baseUrl: 'http://localhost',
      key: 'unused',
      local,
      async fetch(url, { method = 'GET', body = null } = {}) {
        const headers = { 'content-type': 'application/json' }
        const answer = await app.request(String(url), { method, ...(body !== null && { headers, body }) })
        // the command prints other errors itself
        if (answer.status === 500) for (const write of heldBack.splice(0)) write()
        return answer
      },
    })
  })
}

/** Makes a log that holds error lines back, because the command prints refusals. Each of `heldBack` writes one line. */
function quietLog(log: Log): { readonly log: Log; readonly heldBack: (() => void)[] } {
  const heldBack: (() => void)[] = []
  return {
    heldBack,
    log: { ...log, error: (about, message) => void heldBack.push(() => log.error(about, message)) },
  }
}
