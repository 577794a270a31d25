import { createOutgoing, OutgoingError } from '../egress/outgoing.ts'

const PATIENCE_MS = 2_000

/** Whether a Gatepass answers at the public URL. */
export async function isServing(publicUrl: URL): Promise<boolean> {
  return (await statusAt(new URL('/health', publicUrl))) === 200
}

/** The status of the answer, if one comes. The host is allowed whatever it is: it is this installation's own. */
export async function statusAt(url: URL): Promise<number | undefined> {
  const outgoing = createOutgoing({ allowedHosts: [url.host] })
  try {
    return (await outgoing.send({ url, deadlineMs: PATIENCE_MS })).status
  } catch (error) {
    if (error instanceof OutgoingError) return undefined
    throw error
  } finally {
    await outgoing.close()
  }
}
