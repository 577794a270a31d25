import type { SimulatedOutgoing } from './simulated-outgoing.ts'

/** A Gatepass whose outgoing requests are answered by the simulator. */
export interface SimulatedGatepass {
  /** Calls the API as an administrator. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>
  /** Requests a page as a browser, without following redirects. */
  browse(url: string, options: { readonly cookie?: string; readonly form?: string }): Promise<Response>
  /** Sends the token requests with device codes that are due, and waits for their answers. */
  poll(): Promise<void>
  readonly outgoing: SimulatedOutgoing
  readonly clock: { (): number; advance(seconds: number): void }
}

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: the API's JSON, which the steps compare member by member
  readonly body: any
}
