/** The part of a structured logger that Gatepass uses (pino has it). */
export interface Log {
  /** Whether `debug` writes anything. Costly lines, such as one for every request, are made only then. */
  readonly isDebugging?: boolean
  debug(about: object, message: string): void
  info(about: object, message: string): void
  warn(about: object, message: string): void
  error(about: object, message: string): void
}
