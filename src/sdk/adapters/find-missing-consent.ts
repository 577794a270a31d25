import type { PendingAuthorization } from '../client/authorization.ts'
import { Gatepass } from '../client/gatepass.ts'
import type { Binding } from './options.ts'

/**
 * Returns the consent that the user has to give before a tool can run, or `undefined` if none is missing. Does not run
 * the tool. Also returns `undefined` for a tool that Gatepass refuses for another reason: the run reports that reason.
 */
export async function findMissingConsent(
  { gatepass, user, account }: Binding,
  name: string,
  signal?: AbortSignal | undefined,
): Promise<PendingAuthorization | undefined> {
  try {
    const authorization = await gatepass.tools.authorize(name, { user, account, signal })
    return authorization.status === 'pending' ? authorization : undefined
  } catch (error) {
    if (Gatepass.isError(error)) return undefined
    throw error
  }
}

/** Returns the missing consents of several tools, keyed by tool name. Tools that need the same consent share it. */
export async function findMissingConsents(
  binding: Binding,
  names: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, PendingAuthorization>> {
  const found = await Promise.all(
    [...new Set(names)].map(async (name) => [name, await findMissingConsent(binding, name, signal)] as const),
  )
  return new Map(
    found.flatMap(([name, missing]) => (missing === undefined ? [] : [[name, missing] as const])),
  )
}

/**
 * Returns one authorization in place of several: its link leads the user through all providers. With `account`,
 * returns only the first, because an authorization for several tools cannot name an account.
 */
export async function joinConsents(
  { gatepass, user, account }: Binding,
  missing: ReadonlyMap<string, PendingAuthorization>,
  signal: AbortSignal | undefined,
): Promise<PendingAuthorization | undefined> {
  const [first] = missing.values()
  const isOne = [...missing.values()].every(({ id }) => id === first?.id)
  if (isOne || account !== undefined) return first
  return (await gatepass.tools.authorize([...missing.keys()], { user, signal })) ?? first
}
