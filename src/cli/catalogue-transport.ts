import { randomBytes } from 'node:crypto'
import { ConfigError } from '../config-error.ts'
import { BrokerError } from '../domain/errors.ts'
import { createOutgoing } from '../egress/outgoing.ts'
import { catalogueDocument, cataloguePage } from '../operations/providers/provider-catalogue.ts'
import { createDefinitions } from '../providers/catalogue/definitions.ts'
import { readConfig } from '../read-config.ts'
import { readProviderFiles } from '../settings/provider-files.ts'
import { isBegun } from '../store/open-store.ts'
import type { Shell } from './shell.ts'
import type { Transport } from './transport.ts'
import { readSettings } from './with-broker.ts'

/** Whether the database of the settings exists, and the settings are complete. */
export async function hasDatabase({ environment }: Shell): Promise<boolean> {
  try {
    return await isBegun(readSettings(environment, { makeKey: false }).database)
  } catch (error) {
    if (error instanceof ConfigError) return false
    throw error
  }
}

/**
 * Answers the catalogue's part of the API from files: the shipped definitions and those of `GATEPASS_PROVIDERS`. There is
 * no server, no database and no master key.
 */
export async function withCatalogueTransport(
  { environment }: Shell,
  run: (transport: Transport) => Promise<void>,
): Promise<void> {
  const { GATEPASS_PROVIDERS, GATEPASS_ALLOWED_HOSTS } = environment
  const unused = randomBytes(32).toString('base64') // all settings are read together, and nothing is sealed
  const config = readConfig(
    { GATEPASS_PROVIDERS, GATEPASS_ALLOWED_HOSTS, GATEPASS_MASTER_KEY: unused },
    'development',
  )
  const outgoing = createOutgoing(config)
  try {
    const files = await readProviderFiles(config.providerFolder, {
      allowsHttp: (url) => outgoing.allows(url),
    })
    const { own } = createDefinitions(files.map(({ definition }) => definition))
    await run({
      place: 'the catalogue',
      baseUrl: 'http://catalogue.invalid',
      key: 'unused',
      async fetch(url) {
        const { pathname, searchParams } = new URL(String(url))
        const id = decodeURIComponent(/\/provider_catalogue\/(.+)$/.exec(pathname)?.[1] ?? '')
        try {
          const search = searchParams.get('search') ?? undefined
          const [offset, limit] = ['offset', 'limit'].map((name) => Number(searchParams.get(name) ?? 0))
          return Response.json(
            id === ''
              ? cataloguePage(own, { search }, { offset: offset ?? 0, limit: limit ?? 0 })
              : catalogueDocument(own, id),
          )
        } catch (error) {
          if (!(error instanceof BrokerError)) throw error
          return Response.json({ name: error.code, message: error.message }, { status: 404 })
        }
      },
    })
  } finally {
    await outgoing.close()
  }
}
