/** A process that does not say for this long that it is alive is taken for dead. */
export const LAPSE_MS = 3_000

/**
 * Which processes hold claims: on redeeming a code, on carrying a named request out. A process whose beat stays away is
 * taken for dead, for good: it is never alive again under the same id. A process that only stood still (SIGSTOP, a
 * paused machine) may be declared dead too, so every claim must also be fenced: what its holder writes counts only
 * while the claim's row still names it, and it looks at that row again before it does what must not be done twice.
 *
 * All times are the database's, so that the clocks of nodes need not agree.
 */
export interface Processes {
  /** Enters the process, which may hold claims from now on. */
  enter(id: string): Promise<void>
  /**
   * Says that it is alive. Answers how long it had not said so, in milliseconds, or `undefined` when it was declared
   * dead meanwhile: its claims are gone.
   */
  beat(id: string): Promise<number | undefined>
  /** Takes the process out, which holds no claim any more. */
  leave(id: string): Promise<void>
  /** Whether it is alive; one that has lapsed is declared dead by this look, for good. */
  isAlive(id: string, lapseMs: number): Promise<boolean>
  /**
   * Declares dead every process that has lapsed, and ends the claims of dead processes on redeeming codes: such an
   * authorization is as good as pending without an attempt. Answers how many authorizations that were.
   */
  bury(lapseMs: number): Promise<number>
}
