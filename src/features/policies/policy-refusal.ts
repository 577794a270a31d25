import { BrokerError } from '../../domain/errors.ts'
import type { AppliedPolicy, PolicyRefusalReason } from './evaluate.ts'

/** The ids of the rules that refused, at most five: when no `allow` rule applies, all of them refuse together. */
export function idsOf(by: readonly AppliedPolicy[]): string[] {
  return by.slice(0, 5).map(({ policy }) => policy.id)
}

/** The error of a refusal, in words for the caller. */
export function refusalOf(
  reason: PolicyRefusalReason,
  by: readonly AppliedPolicy[],
  { message, retryAfter }: { readonly message?: string; readonly retryAfter?: number },
): BrokerError {
  const names = idsOf(by).map((id) => `"${id}"`)
  const ask = 'An administrator of this project can change that.'
  switch (reason) {
    case 'denied':
      return new BrokerError('denied_by_policy', `The policy ${names[0]} refuses this. ${ask}`)
    case 'not_allowed':
      return new BrokerError(
        'denied_by_policy',
        `None of the policies that allow something allows this (${names.join(', ')}${by.length > names.length ? ', …' : ''}). ${ask}`,
      )
    case 'arguments_failed':
      return new BrokerError(
        'policy_check_failed',
        `The policy ${names[0]} could not check the arguments: this tool does not declare one that the policy names, or they are too much to check. ${ask}`,
      )
    case 'rate':
      return new BrokerError(
        'denied_by_policy',
        `The policy ${names[0]} refuses more of this for now. Try again in ${retryAfter} seconds.`,
        retryAfter === undefined ? {} : { retryAfter },
      )
    case 'not_approved':
      return new BrokerError(
        'denied_by_policy',
        `The policy ${names[0]} wants a person to approve this, and this way of using a token cannot ask anyone. ${ask}`,
      )
    case 'quota':
      return new BrokerError(
        'denied_by_policy',
        `The quota of the policy ${names[0]} is used up. It begins again in ${retryAfter} seconds.`,
        retryAfter === undefined ? {} : { retryAfter },
      )
    case 'hook_refused':
      return new BrokerError(
        'denied_by_policy',
        `The hook of the policy ${names[0]} refuses this${message === undefined ? '.' : `: ${message}`}`,
      )
    case 'hook_failed':
      return new BrokerError(
        'policy_check_failed',
        `The hook of the policy ${names[0]} must agree to this and gave no answer. Try again; if it goes on, tell an administrator of this project.`,
        { retryAfter: retryAfter ?? 1 },
      )
  }
}
