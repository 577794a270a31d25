import { pino } from 'pino'
import type { Log } from './broker.ts'
import type { LogLevel } from './config.ts'

/** What must never be in a log line, should anything ever put it there. */
const SECRET_MEMBERS = [
  'authorization',
  'access_token',
  'accessToken',
  'refresh_token',
  'refreshToken',
  'id_token',
  'token',
  'code',
  'codeVerifier',
  'code_verifier',
  'state',
  'client_secret',
  'clientSecret',
  'secret',
  'password',
  'key',
  'cookie',
]

/** Structured logs on standard error, one JSON object a line. */
export function createLog(level: LogLevel): Log {
  const paths = SECRET_MEMBERS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`])
  return pino(
    { level, redact: { paths, censor: '[redacted]' }, base: null },
    pino.destination({ dest: 2, sync: true }),
  )
}
