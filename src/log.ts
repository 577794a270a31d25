import { pino } from 'pino'
import type { LogLevel } from './config.ts'
import type { Log } from './domain/log.ts'
import { redact, redactText } from './redact.ts'
import { currentContext } from './services/request-context.ts'

/** What may wait for whoever reads the log. Beyond it lines are dropped: nothing that is served waits for a reader. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024
/** How long, at the end, it is waited for the reader. */
const FAREWELL_MS = 1_000

export interface ServerLog extends Log {
  /** Lines that were not written, because nobody read them in time. */
  readonly dropped: number
  /** Until all is written, or for at most a second; what is not written by then is given up. */
  close(): Promise<void>
}

export interface LogOptions {
  /** A file descriptor; standard error unless said otherwise. */
  readonly to?: number
}

/**
 * Structured logs, one JSON object a line. Written aside, so that a reader that stands still (a full pipe, a slow
 * disk) holds up nobody; every line of a request has its `requestId`.
 */
export function createLog(level: LogLevel, { to = 2 }: LogOptions = {}): ServerLog {
  const destination = pino.destination({ fd: to, sync: false, maxLength: MAX_WAITING_BYTES })
  let dropped = 0
  let isClosed = false
  destination.on('drop', () => {
    dropped++
  })
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: 'message',
    },
    destination,
  )
  const write = (level: LogLevel) => (about: object, message: string) => {
    if (isClosed || !logger.isLevelEnabled(level)) return
    const { requestId } = currentContext()
    logger[level]({ ...redact(about), ...(requestId !== undefined && { requestId }) }, redactText(message))
  }
  let told = 0
  destination.on('drain', () => {
    if (dropped === told || isClosed) return
    const lines = dropped - told
    told = dropped
    logger.warn({ lines }, 'log lines were dropped, because they were not read in time')
  })
  // a full disk or a closed pipe is no reason to end
  destination.on('error', () => {
    dropped++
  })

  return {
    isDebugging: level === 'debug',
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    get dropped() {
      return dropped
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await new Promise<void>((resolve) => {
        // else the process would wait for the reader when it exits, without an end
        const timer = setTimeout(() => destination.destroy(), FAREWELL_MS)
        destination.once('close', () => {
          clearTimeout(timer)
          resolve()
        })
        destination.end()
      })
    },
  }
}
