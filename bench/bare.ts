import { join } from 'node:path'
import { freePort, type Started, startScript, untilHealthy } from './process.ts'

/** What Gatepass is compared with, in a process of its own: see `bare-server.ts`. */
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
