import { join } from 'node:path'
import { freePort, type Started, startScript, untilHealthy } from './process.ts'

/** Starts the server with which Gatepass is compared, `bare-server.ts`, in a process of its own. */
export async function startBare(
  folder: string,
  { toolPort = 0 }: { readonly toolPort?: number } = {},
): Promise<Started & { readonly port: number }> {
  const port = await freePort()
  const database = join(folder, `bare-${port}.db`)
  const started = startScript('bare-server.ts', [String(port), database, String(toolPort)])
  await untilHealthy(port, started)
  return { ...started, port }
}
