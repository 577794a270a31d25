export type RouteRole = 'public' | 'session' | 'readonly' | 'caller' | 'admin' | 'approver'

/** A faulty request, and what its refusal names. */
export type FaultOfBody = readonly [method: string, path: string, body: unknown, members: readonly string[]]

/** The part of the API that a feature has. */
export interface ApiPart {
  /** Every route and the least role it takes. */
  readonly roles: Readonly<Record<string, RouteRole>>
  readonly faults?: readonly FaultOfBody[]
}
