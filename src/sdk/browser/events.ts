import type { FailureReason } from '../generated/wire.ts'

/** How a connection attempt ended, as the browser says: your server must ask Gatepass before it relies on this. */
export type ConnectEnding =
  | {
      readonly status: 'completed'
      readonly connection?: { readonly id: string; readonly provider_id: string } | undefined
    }
  | {
      readonly status: 'failed'
      /**
       * A reason of the authorization, or of the page: `popup_blocked` in the mode `popup`, `blocked_by_csp` if the
       * page's own CSP forbids requests to Gatepass, `no_session` if the element got no session from your server.
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
  /** The browser blocked the popup, or the page's own Content Security Policy (CSP) blocked a request to Gatepass. */
  'gatepass-blocked': { readonly by: 'popup_blocker' | 'csp' }
  /** The session has expired: a click begins another session. */
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
