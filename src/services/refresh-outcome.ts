import type { Connection } from '../domain/connection.ts'

/** What asking for a refresh comes to. */
export type RefreshOutcome =
  | { readonly outcome: 'usable'; readonly connection: Connection }
  | { readonly outcome: 'authorization_required' }
  | { readonly outcome: 'provider_unavailable'; readonly message: string; readonly retryAfter: number }

export const AUTHORIZATION_REQUIRED = { outcome: 'authorization_required' } as const
