import { createOutgoing, OutgoingError } from '../egress/outgoing.ts'

const TIMEOUT_MS = 2_000

/** Whether a Gatepass server answers at the public URL. */
export async function isServing(publicUrl: URL): Promise<boolean> {
  return (await fetchStatus(new URL('/health', publicUrl))) === 200
}

/** The status of the response; `undefined` if there is none. The URL is the installation's own, so its host may be private. */
export async function fetchStatus(url: URL): Promise<number | undefined> {
  const outgoing = createOutgoing({ allowedHosts: [url.host] })
  try {
    return (await outgoing.send({ url, deadlineMs: TIMEOUT_MS })).status
  } catch (error) {
    if (error instanceof OutgoingError) return undefined
    throw error
  } finally {
    await outgoing.close()
  }
}
