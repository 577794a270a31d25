import { freePort, type Started, startScript, untilHealthy } from './process.ts'

/** What the fetch is compared with, in a process of its own: see `bare-server.ts`. */
export async function startBare(): Promise<Started & { readonly port: number }> {
  const port = await freePort()
  const started = startScript('bare-server.ts', [String(port)])
  await untilHealthy(port, started)
  return { ...started, port }
}
