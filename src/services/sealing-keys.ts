import { toTimestamp } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import type { Sealed } from '../domain/sealed.ts'
import { type Facts, MOVED_FACT } from '../store/facts.ts'
import { sealingContext } from '../store/protected-tables.ts'
import { type Sealer, UnknownKeyError, UnsealError } from '../store/seal.ts'
import type { LiveServer } from '../store/servers.ts'
import type { Store } from '../store/store.ts'

/** A known text, sealed: only the right master key opens it. */
const KEY_CHECK = 'master_key_check'
/** Ids of the keys that may have sealed something: added before a key's first use, removed after a complete rotation. */
const SEALING_KEYS = 'sealing_keys'

/** A server that has not written its row for this long counts as ended. Longer than its interval and a shutdown. */
export const SERVER_LAPSE_MS = 40_000

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
  checkRing(facts.get(SEALING_KEYS), sealer)
}

/**
 * Records the id of the newest key before it seals anything, and writes the check value if there is none. A new id is
 * refused (`store_unavailable`) while a server runs that does not have its key. So every live server has every key in use.
 */
export async function noteSealingKey(
  { facts, servers }: Pick<Store, 'facts' | 'servers'>,
  sealer: Sealer,
): Promise<void> {
  const [newest] = sealer.keyIds
  const check = await facts.find(KEY_CHECK)
  for (;;) {
    const noted = await facts.find(SEALING_KEYS)
    checkRing(noted, sealer)
    // a database from before the ids were recorded: every key that opens it may have sealed something
    const before = noted === undefined && check !== undefined ? sealer.keyIds : keysIn(noted)
    const after = [...new Set([newest, ...before])].join(' ')
    if (after === noted) break
    const isNew = !before.includes(newest)
    if (isNew) refuseServer(serversWithout([newest], await liveServers({ servers })), newest)
    if (await facts.exchange(SEALING_KEYS, noted, after)) {
      // a server that started meanwhile has either read the new list, or is found here
      if (isNew) refuseServer(serversWithout([newest], await liveServers({ servers })), newest)
      break
    }
  }
  checkMasterKey(
    sealer,
    await facts.settle(
      KEY_CHECK,
      sealer.seal('gatepass', sealingContext('facts', 'value', { name: KEY_CHECK })),
    ),
  )
}

/** The ids of the keys that may have sealed something. */
export async function sealingKeys(facts: Facts): Promise<readonly string[]> {
  return keysIn(await facts.find(SEALING_KEYS))
}

/** The ids of the keys in use that this process does not have: what they sealed, it cannot open. */
export async function missingKeys(facts: Facts, sealer: Sealer): Promise<readonly string[]> {
  return (await sealingKeys(facts)).filter((id) => !sealer.keyIds.includes(id))
}

/** The server processes that run. A process that was killed counts until it lapses. */
export function liveServers({ servers }: Pick<Store, 'servers'>): Promise<readonly LiveServer[]> {
  return servers.live(SERVER_LAPSE_MS)
}

export function serversWithout(
  keyIds: readonly string[],
  servers: readonly LiveServer[],
): readonly LiveServer[] {
  return servers.filter((server) => !keyIds.every((id) => server.keyIds.includes(id)))
}

/** Throws `store_unavailable` while a server runs that does not seal with the newest key. */
export async function checkServersSeal(
  store: Pick<Store, 'servers'>,
  { keyIds: [newest] }: Sealer,
): Promise<void> {
  const servers = await liveServers(store)
  refuseServer(serversWithout([newest], servers), newest)
  const other = servers.find(({ keyIds }) => keyIds[0] !== newest)
  if (other !== undefined)
    throw new BrokerError(
      'store_unavailable',
      `The server ${nameOfServer(other)} still seals with master key ${other.keyIds[0]}. Set GATEPASS_MASTER_KEY there with key ${newest} in front, and restart it first.${KILLED}`,
      { cause: new UnknownKeyError(other.keyIds[0]) },
    )
}

/** Removes the ids of the older keys. Called when nothing is sealed with these keys any more. */
export async function forgetOlderKeys(facts: Facts, { keyIds: [newest, ...older] }: Sealer): Promise<void> {
  for (;;) {
    const noted = await facts.find(SEALING_KEYS)
    const after = [...new Set([newest, ...keysIn(noted)])].filter((id) => !older.includes(id)).join(' ')
    if (after === noted || (await facts.exchange(SEALING_KEYS, noted, after))) return
  }
}

/** Throws for a ring without a key that may have sealed something. */
function checkRing(noted: string | undefined, { keyIds }: Sealer): void {
  const missing = keysIn(noted).find((id) => !keyIds.includes(id))
  if (missing !== undefined)
    throw new BrokerError(
      'store_unavailable',
      `Something in this database is still sealed with master key ${missing}, which is not in GATEPASS_MASTER_KEY (it has ${keyIds.join(', ')}). Nothing was changed. Start with that key as well; \`gatepass rotate-key\` re-encrypts everything with the newest key and says when the old one can be removed.`,
      { cause: new UnknownKeyError(missing) },
    )
}

/** Throws for the first of the servers, which do not have the key. */
function refuseServer([server]: readonly LiveServer[], keyId: string): void {
  if (server === undefined) return
  throw new BrokerError(
    'store_unavailable',
    `The server ${nameOfServer(server)} runs without master key ${keyId} (it has ${server.keyIds.join(', ')}), so it could not open what that key seals. Add the key at the end of its GATEPASS_MASTER_KEY (<old>,<new>) and restart it first.${KILLED}`,
    { cause: new UnknownKeyError(keyId) },
  )
}

const KILLED = ` A server that was killed counts for ${SERVER_LAPSE_MS / 1000} seconds more.`

export function nameOfServer({ name }: LiveServer): string {
  return `"${name}"`
}

function keysIn(fact: string | undefined): string[] {
  return fact === undefined ? [] : fact.split(' ').filter(Boolean)
}

function checkMasterKey(sealer: Sealer, check: string): void {
  try {
    sealer.open(check as Sealed, sealingContext('facts', 'value', { name: KEY_CHECK })) // only sealed values are written to this fact
  } catch (cause) {
    if (!(cause instanceof UnsealError || cause instanceof UnknownKeyError)) throw cause
    throw new BrokerError(
      'store_unavailable',
      'GATEPASS_MASTER_KEY is not the key this database was sealed with. Nothing was changed. Start with the right key; while rotating, with both, newest first.',
      { cause },
    )
  }
}
