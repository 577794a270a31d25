import type { FailureReason } from '../wire.ts'

/** How a connection attempt ended. It comes from the page, so your server asks Gatepass before it relies on it. */
export type ConnectEnding =
  | {
      readonly status: 'completed'
      readonly connection?: { readonly id: string; readonly provider_id: string } | undefined
    }
  | {
      readonly status: 'failed'
      /**
       * A reason of the authorization, or of the page: `popup_blocked` in the mode `popup`, `blocked_by_csp` where the
       * page's own policy forbids requests to Gatepass, `no_session` where the element got none from your server.
       */
      readonly reason: FailureReason | 'popup_blocked' | 'blocked_by_csp' | 'no_session'
      /** What happened and what to do, in English. */
      readonly message?: string | undefined
    }

/** The events and their details. They bubble. */
export interface ConnectEvents {
  /** The connect page was opened. `again` opens it once more; call it in a click. */
  'gatepass-open': { readonly in: 'popup' | 'tab'; again(): void; cancel(): void }
  'gatepass-settled': ConnectEnding
  /** The browser opened no window, or the page's own policy forbade it. */
  'gatepass-blocked': { readonly by: 'popup_blocker' | 'csp' }
  /** The session is over: a click begins another. */
  'gatepass-expired': undefined
}

/** Dispatches an event that bubbles. */
export function dispatch<Name extends keyof ConnectEvents>(
  target: EventTarget,
  name: Name,
  detail?: ConnectEvents[Name],
): void {
  target.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }))
}
