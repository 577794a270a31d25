import type { ToolLog } from '../tool-answer.ts'

/**
 * How a running tool reaches its user through the caller's client. Calls over MCP have one; other ways of running a
 * tool have none.
 */
export interface Dialog {
  /** The modes that the client has declared. */
  readonly modes: readonly ElicitationMode[]
  /**
   * Shows the question and resolves with the user's answer: `cancel` also where no answer came in time. Rejects once
   * `signal` aborts. Called only for a mode of `modes`, and for one question at a time.
   */
  elicit(question: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer>
  /** Sends progress, which must rise with every call. Absent: the client did not ask for progress. */
  progress?(data: Progress): void
  /** Absent: the client did not ask for log lines. */
  log?(line: ToolLog): void
}

/** MCP 2026-07-28, Elicitation: a form that the client draws, or a link that it offers to open. */
export type Elicitation =
  | {
      readonly mode: 'form'
      readonly message: string
      /** A flat object of primitive members. */
      readonly requestedSchema: Readonly<Record<string, unknown>>
    }
  | { readonly mode: 'url'; readonly message: string; readonly url: string }

export type ElicitationMode = Elicitation['mode']

export const ELICITATION_ACTIONS = ['accept', 'decline', 'cancel'] as const

export interface ElicitationAnswer {
  /** `accept` of a link means that the user has opened it, not that they are done there. */
  readonly action: (typeof ELICITATION_ACTIONS)[number]
  /** The user's input; only for an accepted form. */
  readonly content?: Readonly<Record<string, unknown>>
}

/** The progress of a running tool (MCP 2026-07-28, Progress). */
export interface Progress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}
