/** An account that can approve, with the claim names of OpenID Connect. */
export interface Account {
  readonly sub: string
  readonly name: string
  readonly email: string
}

const ada: Account = { sub: 'ada', name: 'Ada Lovelace', email: 'ada@sandbox.example' }
const grace: Account = { sub: 'grace', name: 'Grace Hopper', email: 'grace@sandbox.example' }

export const ACCOUNTS: readonly Account[] = [ada, grace]

/** The account that approves if the form names none. */
export const DEFAULT_ACCOUNT = ada

export function findAccount(sub: string): Account | undefined {
  return ACCOUNTS.find((account) => account.sub === sub)
}
