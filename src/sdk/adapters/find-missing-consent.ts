import { Gatepass } from '../client/gatepass.ts'
import { type Binding, type Missing, toMissing } from './options.ts'

/**
 * Returns the consent that the user has to give before a tool can run, or `undefined` if none is missing. Does not run
 * the tool. Also returns `undefined` for a tool that Gatepass refuses for another reason: the run reports that reason.
 */
export async function findMissingConsent(
  { gatepass, user, account }: Binding,
  name: string,
  signal?: AbortSignal | undefined,
): Promise<Missing | undefined> {
  try {
    const authorization = await gatepass.tools.authorize(name, { user, account, signal })
    return authorization.status === 'pending'
      ? toMissing(authorization, { tool: name, input: {} })
      : undefined
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
): Promise<ReadonlyMap<string, Missing>> {
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
  missing: ReadonlyMap<string, Missing>,
  signal: AbortSignal | undefined,
): Promise<Missing | undefined> {
  const [first] = missing.values()
  const isOne = [...missing.values()].every(({ id }) => id === first?.id)
  if (isOne || account !== undefined) return first
  const names = [...missing.keys()]
  const joined = await gatepass.tools.authorize(names, { user, signal })
  return joined === undefined ? first : toMissing(joined, { tool: names.join(), input: {} })
}
