import type { CatalogueItem } from '../backend.ts'
import {
  type CatalogueReading,
  checkToolCount,
  type ReceivedCatalogue,
  readPacked,
} from '../catalogue/catalogue-reading.ts'
import { Refusal } from '../read-json.ts'
import { scrubParsed } from '../scrub/scrub.ts'
import { readWorkerTools } from './read-worker-tool.ts'

/** The credentials of the request, which are removed from the list in case the worker echoes them. */
export type Credentials = readonly string[]

export function readList([listed]: readonly unknown[], credentials: Credentials): readonly CatalogueItem[] {
  if (!Array.isArray(listed)) throw new Refusal('The worker’s tool list is not a JSON array.')
  checkToolCount(listed.length)
  return readWorkerTools(listed.map((definition) => scrubParsed(definition, credentials)))
}

/** Runs in a thread (thread-pool.ts). */
export function run(received: ReceivedCatalogue<Credentials>, transfer: ArrayBuffer[]): CatalogueReading {
  return readPacked(received, readList, transfer)
}
