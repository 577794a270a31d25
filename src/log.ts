import { pino } from 'pino'
import type { LogLevel } from './config.ts'
import type { Log } from './domain/log.ts'
import { redact, redactText } from './redact.ts'
import { currentContext } from './services/request-context.ts'
import { currentSpan } from './services/tracing.ts'

/** The size, in bytes, of the buffer of unread log lines. When it is full, lines are dropped, and no request waits. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024
/** How long `close` waits for the reader to read all lines. */
const CLOSE_TIMEOUT_MS = 1_000

export interface ServerLog extends Log {
  /** How many lines were lost, because the reader was too slow or because a write failed. */
  readonly dropped: number
  /** Resolves when all lines are written, and after one second at the latest; unwritten lines are lost. */
  close(): Promise<void>
}

export interface LogOptions {
  /** A file descriptor; standard error by default. */
  readonly to?: number
  /** `at once`: each line is written before the call returns, so that a command's own message comes after it. */
  readonly writes?: 'asynchronously' | 'at once'
  /** `text` is for a terminal: a line has the level, the message and the facts. Default: `json`. */
  readonly as?: 'json' | 'text'
}

/**
 * Creates a log with one JSON object per line. Lines are written asynchronously, so a blocked reader (a full pipe, a
 * slow disk) delays no request. Every line that is logged during a request has the `requestId`.
 */
export function createLog(
  level: LogLevel,
  { to = 2, writes = 'asynchronously', as = 'json' }: LogOptions = {},
): ServerLog {
  const destination = pino.destination({
    fd: to,
    sync: writes === 'at once',
    maxLength: MAX_WAITING_BYTES,
  })
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
    as === 'json' ? destination : { write: (line: string) => destination.write(textOf(line)) },
  )
  const write = (level: LogLevel) => (about: object, message: string) => {
    if (isClosed || !logger.isLevelEnabled(level)) return
    const { requestId } = currentContext()
    const traceId = currentSpan()?.traceId
    logger[level](
      {
        ...redact(about),
        ...(requestId !== undefined && { requestId }),
        ...(traceId !== undefined && { traceId }),
      },
      redactText(message),
    )
  }
  let reported = 0
  destination.on('drain', () => {
    if (dropped === reported || isClosed) return
    const lines = dropped - reported
    reported = dropped
    logger.warn({ lines }, 'log lines were dropped, because they were not read in time')
  })
  // a full disk or a closed pipe does not end the process
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
        // otherwise the exiting process would wait for a blocked reader without limit
        const timer = setTimeout(() => destination.destroy(), CLOSE_TIMEOUT_MS)
        destination.once('close', () => {
          clearTimeout(timer)
          resolve()
        })
        destination.end()
      })
    },
  }
}

/** The line of the log for a person: `warn   an authorization failed  reason=access_denied`. */
function textOf(line: string): string {
  const { level, message, time: _time, pid: _pid, ...facts } = JSON.parse(line)
  const shown = Object.entries(facts).map(
    ([name, value]) =>
      `${name}=${typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value)}`,
  )
  const text = [`${level.padEnd(6)} ${message}`, ...shown].join('  ')
  return `${text.replaceAll(/\p{Cc}/gu, ' ')}\n`
}
