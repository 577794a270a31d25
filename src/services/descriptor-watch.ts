import { open } from 'node:fs/promises'
import { devNull } from 'node:os'
import type { Log } from '../domain/log.ts'

/** While it lasts, the line is repeated at this interval. */
const REPEAT_MS = 60_000
/** EMFILE: the limit of this process; ENFILE: that of the machine. */
const EXHAUSTED = ['EMFILE', 'ENFILE']

/** Whether the error means that no further file or socket could be opened here. */
function isExhausted(code: unknown): boolean {
  return typeof code === 'string' && EXHAUSTED.includes(code)
}

/**
 * Returns a job that logs when this process can open no more files and sockets. Node reports
 * no error: it closes connections as soon as it has accepted them, until descriptors are free again.
 */
export function createDescriptorWatch(log: Log): () => Promise<void> {
  let loggedAt: number | undefined

  return async () => {
    const code = await codeOfOpening()
    if (!isExhausted(code)) {
      if (loggedAt !== undefined) log.info({}, 'files and sockets can be opened again')
      loggedAt = undefined
      return
    }
    if (loggedAt !== undefined && performance.now() - loggedAt < REPEAT_MS) return
    loggedAt = performance.now()
    log.error(
      { code },
      'no file descriptor is left: connections are closed unanswered; raise the limit of open files (docs/operate/operation.md)',
    )
  }
}

async function codeOfOpening(): Promise<unknown> {
  try {
    await (await open(devNull, 'r')).close()
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : undefined
  }
}
