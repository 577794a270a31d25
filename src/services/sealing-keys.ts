import { toTimestamp } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import type { Sealed } from '../domain/sealed.ts'
import { type Facts, MOVED_FACT } from '../store/facts.ts'
import { type Sealer, UnknownKeyError, UnsealError } from '../store/seal.ts'
import { factPlace } from '../store/sealed-columns.ts'

/** A known text, sealed: only the right master key opens it. */
const KEY_CHECK = 'master_key_check'
/** Ids of the keys that may have sealed something: added before a key's first use, removed after a complete rotation. */
const SEALING_KEYS = 'sealing_keys'

/**
 * Throws `store_unavailable` for a database that these keys do not open completely, and for one that was moved
 * elsewhere. Only reads, so that a start with the wrong key changes nothing.
 */
export function admitKeys(facts: ReadonlyMap<string, string>, sealer: Sealer): void {
  const movedAt = facts.get(MOVED_FACT)
  if (movedAt !== undefined)
    throw new BrokerError(
      'store_unavailable',
      `This installation was moved to another database at ${toTimestamp(Number(movedAt))}, and no longer uses this one. Set GATEPASS_DATABASE_URL to the other database. To come back, move the installation with \`gatepass migrate --from … --to …\` into an empty database.`,
    )
  const check = facts.get(KEY_CHECK)
  if (check === undefined) return
  checkMasterKey(sealer, check)
  const missing = keysIn(facts.get(SEALING_KEYS)).find((id) => !sealer.keyIds.includes(id))
  if (missing !== undefined)
    throw new BrokerError(
      'store_unavailable',
      `Something in this database is still sealed with master key ${missing}, which is not in GATEPASS_MASTER_KEY (it has ${sealer.keyIds.join(', ')}). Nothing was changed. Start with that key as well; \`gatepass rotate-key\` re-encrypts everything with the newest key and says when the old one can be removed.`,
      { cause: new UnknownKeyError(missing) },
    )
}

/** Records the id of the newest key before it seals anything, and writes the check value if there is none. */
export async function noteSealingKey(facts: Facts, sealer: Sealer): Promise<void> {
  const check = await facts.find(KEY_CHECK)
  for (;;) {
    const noted = await facts.find(SEALING_KEYS)
    // a database from before the ids were recorded: every key that opens it may have sealed something
    const before = noted === undefined && check !== undefined ? sealer.keyIds : keysIn(noted)
    const after = [...new Set([sealer.keyIds[0], ...before])].join(' ')
    if (after === noted || (await facts.exchange(SEALING_KEYS, noted, after))) break
  }
  checkMasterKey(sealer, await facts.settle(KEY_CHECK, sealer.seal('gatepass', factPlace(KEY_CHECK))))
}

/** The ids of the keys that may have sealed something. */
export async function sealingKeys(facts: Facts): Promise<readonly string[]> {
  return keysIn(await facts.find(SEALING_KEYS))
}

/** Removes the ids of the older keys. Called when nothing is sealed with these keys any more. */
export async function forgetOlderKeys(facts: Facts, { keyIds: [newest, ...older] }: Sealer): Promise<void> {
  for (;;) {
    const noted = await facts.find(SEALING_KEYS)
    const after = [...new Set([newest, ...keysIn(noted)])].filter((id) => !older.includes(id)).join(' ')
    if (after === noted || (await facts.exchange(SEALING_KEYS, noted, after))) return
  }
}

function keysIn(fact: string | undefined): string[] {
  return fact === undefined ? [] : fact.split(' ').filter(Boolean)
}

function checkMasterKey(sealer: Sealer, check: string): void {
  try {
    sealer.open(check as Sealed, factPlace(KEY_CHECK)) // only sealed values are written to this fact
  } catch (cause) {
    if (!(cause instanceof UnsealError || cause instanceof UnknownKeyError)) throw cause
    throw new BrokerError(
      'store_unavailable',
      'GATEPASS_MASTER_KEY is not the key this database was sealed with. Nothing was changed. Start with the right key; while rotating, with both, newest first.',
      { cause },
    )
  }
}
