import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { parseJsonText, readTextFile } from '../../cli/read-json-file.ts'
import type { Body } from '../../sdk/client/operation.ts'

export type NewPolicy = Body<'createPolicy'>

/** The policies of a file, or of standard input (`-`), all of them checked. Throws `CommandFailure`. */
export async function readPolicies(source: string): Promise<NewPolicy[]> {
  const value = parseJsonText(await readTextFile(source), source)
  const { newPolicySchema } = await import('./wire.ts')
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all.map((policy, i) => {
    const parsed = newPolicySchema.safeParse(policy)
    if (parsed.success) return parsed.data as NewPolicy // a schema in it is JSON, since the file is
    const faults = parsed.error.issues.slice(0, 10).map(({ path, message }) => {
      return path.length === 0 ? message : `${path.join('.')}: ${message}`
    })
    throw new CommandFailure(
      `Policy ${i + 1} of ${all.length} is not valid. ${faults.join('; ')}.`,
      EXIT.usage,
    )
  })
}

/** The change after which a policy has the members of `wanted` alone; `readPolicies` has put in the defaults. */
export async function replacementBy({ id: _, ...wanted }: NewPolicy): Promise<Body<'updatePolicy'>> {
  const { policyChangesSchema } = await import('./wire.ts')
  const removable = Object.entries(policyChangesSchema.shape).filter(
    ([, schema]) => schema.safeParse(null).success,
  )
  return { ...Object.fromEntries(removable.map(([member]) => [member, null])), ...wanted }
}
