import { join } from 'node:path'
import { freePort, type Started, startScript, untilHealthy } from './process.ts'

export interface BareOptions {
  readonly toolPort?: number
  readonly upstreamPort?: number
  /** Whether it records each fetch durably before it answers. */
  readonly records?: boolean
}

/** Starts the server with which Gatepass is compared, `bare-server.ts`, in a process of its own. */
export async function startBare(
  folder: string,
  { toolPort = 0, upstreamPort = 0, records = false }: BareOptions = {},
): Promise<Started & { readonly port: number }> {
  const port = await freePort()
  const database = join(folder, `bare-${port}.db`)
  const args = [String(port), database, String(toolPort), String(upstreamPort), records ? 'records' : '']
  const started = startScript('bare-server.ts', args)
  await untilHealthy(port, started)
  return { ...started, port }
}
