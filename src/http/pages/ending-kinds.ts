/** The pages at the end of an authorization, or instead of one. */
export const ENDING_KINDS = [
  'completed',
  'failed',
  'working',
  'waiting_for_confirmation',
  'confirmed',
  'confirmed_elsewhere',
  'wrong_browser',
  'held_elsewhere',
  'unknown_state',
  'wrong_provider',
  'unknown_login',
  'another_user',
  'login_cancelled',
  'login_unavailable',
  'login_failed',
  'not_found',
  'foreign_click',
  'not_set_up',
  'refused_request',
  'problem',
] as const
export type EndingKind = (typeof ENDING_KINDS)[number]
