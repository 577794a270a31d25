import type { Broker } from '../../broker.ts'
import { perBroker } from '../../flows/per-broker.ts'
import { packSettings } from './settings.ts'
import { type FoundPacks, readPacksIn } from './wire-folder.ts'
import type { Pack } from './wire-format.ts'
import { packIds, shippedNamespaces, shippedPack } from './wire-library.ts'

// The packs that a process knows: those that Gatepass ships, which are read when they are asked for, and the operator's own,
// which are read once.

export const PACK_SOURCES = ['gatepass', 'own'] as const

export interface KnownPack {
  readonly pack: Pack
  /** `own`: it is in the folder `GATEPASS_PACKS` of this process. */
  readonly source: (typeof PACK_SOURCES)[number]
}

/** The operator's own packs, and the faults of those that cannot be used. */
export const ownPacks = perBroker((broker) => readOwnPacks(broker.settings.of(packSettings)))

/** The ids of all packs, sorted. */
export async function knownPackIds(broker: Broker): Promise<string[]> {
  const { packs } = await ownPacks(broker)
  return [...packIds(), ...packs.map(({ id }) => id)].sort()
}

export async function findPack(broker: Broker, id: string): Promise<KnownPack | undefined> {
  const shipped = shippedPack(id)
  if (shipped !== undefined) return { pack: shipped, source: 'gatepass' }
  const pack = (await ownPacks(broker)).packs.find((own) => own.id === id)
  return pack && { pack, source: 'own' }
}

/** Reads the operator's own packs. A name belongs to the pack that had it first: those that Gatepass ships come before the operator's own. */
export async function readOwnPacks(folder: string | undefined): Promise<FoundPacks> {
  if (folder === undefined) return { packs: [], faults: new Map() }
  const found = await readPacksIn(folder)
  const shipped = packIds()
  const namespaces = new Map(shippedNamespaces().map(([namespace, id]) => [namespace.toLowerCase(), id]))
  const faults = new Map(found.faults)
  const packs = found.packs.filter(({ id, namespace }) => {
    const owner = namespaces.get(namespace.toLowerCase())
    const fault = shipped.includes(id)
      ? `${id}/pack.json: id is "${id}", which a pack of Gatepass has: give the folder and the id another name.`
      : owner !== undefined
        ? `${id}/pack.json: namespace is "${namespace}", which the pack ${owner} has: take another one.`
        : undefined
    if (fault === undefined) namespaces.set(namespace.toLowerCase(), id)
    else faults.set(id, [fault])
    return fault === undefined
  })
  return { packs, faults }
}
