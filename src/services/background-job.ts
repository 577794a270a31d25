/** A task that a process repeats at an interval. */
export interface BackgroundJob {
  readonly intervalMs: number
  run(): Promise<unknown>
}
