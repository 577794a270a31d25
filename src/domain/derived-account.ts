// Tokens of a grant without a user are connections, one for each set of scopes. The account of each begins with
// the id of what it was derived from: a connection of the project, an entry with impersonation, or the user's connection
// whose token was exchanged.

/** The account of a token with these scopes. */
export function derivedAccountId(fromId: string, scopesDigest: string): string {
  return `${fromId} ${scopesDigest}`
}

/** The id of what a token was derived from. */
export function derivedFrom(accountId: string): string {
  return accountId.split(' ', 1)[0] ?? ''
}

/** The account of the connection that holds the key of a connection of the project. */
export function sharedKeyAccountId(sharedId: string): string {
  return derivedAccountId(sharedId, 'key')
}
