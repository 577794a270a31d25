import { membersOf } from '../../providers/response-body.ts'
import type { CatalogueItem } from '../../tools/backend.ts'
import {
  type CatalogueReading,
  checkToolCount,
  type ReceivedCatalogue,
  readPacked,
} from '../../tools/catalogue/catalogue-reading.ts'
import { Refusal } from '../../tools/read-json.ts'
import { scrubParsed } from '../../tools/scrub/scrub.ts'
import { readOxpTool } from './backend-tool.ts'

/** The credentials of the request; removed from the list in case the server echoes them. */
export type Credentials = readonly string[]

export function readList([answer]: readonly unknown[], credentials: Credentials): readonly CatalogueItem[] {
  const body = membersOf(answer)
  const listed = body?.items ?? body?.tools
  if (!Array.isArray(listed))
    throw new Refusal('The server lists its tools neither in `items` nor in `tools`.')
  checkToolCount(listed.length)
  return listed.map((definition) => readOxpTool(scrubParsed(definition, credentials)))
}

/** Runs in a thread (thread-pool.ts). */
export function run(received: ReceivedCatalogue<Credentials>, transfer: ArrayBuffer[]): CatalogueReading {
  return readPacked(received, readList, transfer)
}
