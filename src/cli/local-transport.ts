import type { Log } from '../domain/log.ts'
import { createApp } from '../http/app.ts'
import { databaseName } from '../store/database-place.ts'
import { version } from '../version.ts'
import type { Shell } from './shell.ts'
import type { OpenApiOptions, Transport } from './transport.ts'
import { withBroker } from './with-broker.ts'

/**
 * The same API in this process, on the database itself, for whoever has the database and the master key: no API key is
 * needed, and the audit trail names the command.
 */
export async function withLocalTransport(
  shell: Shell,
  options: OpenApiOptions,
  run: (transport: Transport) => Promise<void>,
): Promise<void> {
  await withBroker(shell, options, async (opened) => {
    const { broker, project, config } = opened
    const { log, bugs } = quietLog(broker.log)
    const app = createApp(
      { ...broker, log },
      { version, operator: { projectId: project.id, command: shell.command ?? 'gatepass' } },
    )
    const ask = async (target: string, init?: RequestInit) => {
      const answer = await app.request(target, init)
      if (answer.status === 500) for (const tell of bugs) tell()
      return answer
    }
    await run({
      place: databaseName(config.database),
      opened,
      async fetch(method, target, body) {
        const headers = { 'content-type': 'application/json' }
        const answer = await ask(target, { method, ...(body !== undefined && { headers, body }) })
        return { status: answer.status, text: await answer.text() }
      },
      async stream(target) {
        const { status, body } = await ask(target)
        return { status, body: body ?? new ReadableStream() }
      },
    })
  })
}

/** A refusal is the command's one line, so the log does not repeat it; of a bug the log's lines are told. */
function quietLog(log: Log): { readonly log: Log; readonly bugs: readonly (() => void)[] } {
  const bugs: (() => void)[] = []
  return {
    bugs,
    log: { ...log, error: (about, message) => void bugs.push(() => log.error(about, message)) },
  }
}
