import { toTimestamp } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import type { Sealed } from '../domain/sealed.ts'
import { type Facts, MOVED_FACT } from '../store/facts.ts'
import { type Sealer, UnknownKeyError, UnsealError } from '../store/seal.ts'
import { factPlace } from '../store/sealed-columns.ts'

/** A known text, sealed: opens with the right key only. */
const KEY_CHECK = 'master_key_check'
/** The ids of the keys that anything may be sealed with: noted before the first use, dropped when a rotation is complete. */
const SEALING_KEYS = 'sealing_keys'

/**
 * Refuses to go on with a database that these keys do not open, or not all of, and with one that was moved away. Looks
 * only, so that a start with the wrong key changes nothing. Throws `store_unavailable`.
 */
export function admitKeys(facts: ReadonlyMap<string, string>, sealer: Sealer): void {
  const movedAt = facts.get(MOVED_FACT)
  if (movedAt !== undefined)
    throw new BrokerError(
      'store_unavailable',
      `This installation was moved to another database at ${toTimestamp(Number(movedAt))}, and this one is left behind. Set GATEPASS_DATABASE_URL to the other one. To come back, move it here with \`gatepass migrate --from … --to …\` into an empty database.`,
    )
  const check = facts.get(KEY_CHECK)
  if (check === undefined) return
  checkMasterKey(sealer, check)
  const missing = keysIn(facts.get(SEALING_KEYS)).find((id) => !sealer.keyIds.includes(id))
  if (missing !== undefined)
    throw new BrokerError(
      'store_unavailable',
      `Something in this database is still sealed with master key ${missing}, which is not in GATEPASS_MASTER_KEY (it has ${sealer.keyIds.join(', ')}). Nothing was changed. Start with that key as well; \`gatepass rotate-key\` seals all anew and says when it can go.`,
      { cause: new UnknownKeyError(missing) },
    )
}

/** Notes the key that seals from now on, before it seals anything, and settles the check value. */
export async function noteSealingKey(facts: Facts, sealer: Sealer): Promise<void> {
  const check = await facts.get(KEY_CHECK)
  for (;;) {
    const noted = await facts.get(SEALING_KEYS)
    // a database from before they were noted: whatever opens it may have sealed something
    const before = noted === undefined && check !== undefined ? sealer.keyIds : keysIn(noted)
    const after = [...new Set([sealer.keyIds[0], ...before])].join(' ')
    if (after === noted || (await facts.exchange(SEALING_KEYS, noted, after))) break
  }
  checkMasterKey(sealer, await facts.settle(KEY_CHECK, sealer.seal('gatepass', factPlace(KEY_CHECK))))
}

/** The ids of the keys that something may be sealed with. */
export async function sealingKeys(facts: Facts): Promise<readonly string[]> {
  return keysIn(await facts.get(SEALING_KEYS))
}

/** Nothing is sealed any more with the older keys of the ring. */
export async function forgetOlderKeys(facts: Facts, { keyIds: [newest, ...older] }: Sealer): Promise<void> {
  for (;;) {
    const noted = await facts.get(SEALING_KEYS)
    const after = [...new Set([newest, ...keysIn(noted)])].filter((id) => !older.includes(id)).join(' ')
    if (after === noted || (await facts.exchange(SEALING_KEYS, noted, after))) return
  }
}

function keysIn(fact: string | undefined): string[] {
  return fact === undefined ? [] : fact.split(' ').filter(Boolean)
}

function checkMasterKey(sealer: Sealer, check: string): void {
  try {
    sealer.open(check as Sealed, factPlace(KEY_CHECK)) // a fact that only a sealer's envelope is written to
  } catch (cause) {
    if (!(cause instanceof UnsealError || cause instanceof UnknownKeyError)) throw cause
    throw new BrokerError(
      'store_unavailable',
      'GATEPASS_MASTER_KEY is not the key this database was sealed with. Nothing was changed. Start with the right key; while rotating, with both, newest first.',
      { cause },
    )
  }
}
