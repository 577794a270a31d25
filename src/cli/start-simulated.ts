import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { readConfig } from '../read-config.ts'
import { type RunningServer, startServer } from '../server.ts'
import type { StartSimulated } from './simulated-server.ts'
import type { Transport } from './transport.ts'

export const startSimulated: StartSimulated = async (environment, planned, partsFor) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-simulated-'))
  const removeFolder = () => rm(folder, { recursive: true, force: true })
  try {
    const database = `file:${join(folder, 'gatepass.db')}`
    const config = readConfig({ ...environment, GATEPASS_DATABASE_URL: database }, 'development')
    const server = await startServer(config, {
      ...partsFor(config),
      simulation: planned.simulationFor(config),
    })
    try {
      const apiKey = server.apiKey ?? config.apiKey ?? ''
      const transport = within(server, config, apiKey)
      const about = await planned.addTo(transport, config)
      return {
        ...server,
        config,
        apiKey,
        transport,
        about,
        close: () => server.close().finally(removeFolder),
      }
    } catch (error) {
      await server.close()
      throw error
    }
  } catch (error) {
    await removeFolder()
    throw error
  }
}

/** Sends requests to the server in this process. */
function within(server: RunningServer, { publicUrl }: Config, key: string): Transport {
  return {
    place: publicUrl.origin,
    baseUrl: publicUrl.origin,
    key,
    fetch: (url, { method = 'GET', headers = {}, body = null } = {}) =>
      server.fetch(new Request(String(url), { method, headers, body })),
  }
}
