import type { Account } from '../domain/connection.ts'

// A person is another account at each tenant: `<tenant>:<id of the person>`. Where the provider does not name the person, the
// tenant is the account.

export function accountAt(tenant: { readonly id: string; readonly name: string }, person: Account): Account {
  return { id: person.id === '' ? tenant.id : `${tenant.id}:${person.id}`, name: tenant.name }
}

/**
 * Whether both accounts may be of one person, at whichever tenants: many servers revoke all grants of a person with one.
 * `tenant`: that of the account `id`; absent: it is not chosen yet.
 */
export function mayBeOnePerson(id: string, tenant: string | undefined, other: string): boolean {
  const person = personOf(id, tenant)
  return person === '' || other === person || other.endsWith(`:${person}`) || !other.includes(':')
}

/** Values that the user gave may come before the tenant. Empty: the provider did not name the person. */
function personOf(id: string, tenant: string | undefined): string {
  if (tenant === undefined) return id
  const at = `:${id}`.lastIndexOf(`:${tenant}:`)
  return at === -1 ? '' : id.slice(at + tenant.length + 1)
}
