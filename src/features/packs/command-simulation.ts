import { type Api, apiOver } from '../../cli/api.ts'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { quantity } from '../../cli/print.ts'
import type { PlannedSimulation } from '../../cli/simulated-server.ts'
import { catalogueEntry } from '../../dev-provider/simulator/catalogue-entry.ts'
import { partlySimulated } from '../../dev-provider/simulator/simulated-outgoing.ts'
import { systemClock } from '../../domain/clock.ts'
import { didYouMean } from '../../domain/nearest.ts'
import { builtIn } from '../../providers/catalogue/registry.ts'
import { writeApi } from '../../providers/definition/api-hosts.ts'
import type { AuthProviderResponse, Operations, PackDetail } from '../../sdk/generated/wire.ts'
import { SIMULATED_CLIENT, SimulatedPacks } from './simulated-packs.ts'
import { SIMULATED_PAGES, simulatedPages } from './simulated-pages.ts'
import type { Pack } from './wire-format.ts'
import { packIds, shippedPack } from './wire-library.ts'
import { readOwnPacks } from './wire-packs.ts'

/** The packs of a server of development whose services and authorization servers are simulated. */
export interface PlannedPacks extends PlannedSimulation {
  readonly packs: SimulatedPacks
  readonly all: readonly Pack[]
}

/** `folder`: that of `GATEPASS_PACKS`. Throws `CommandFailure` for a pack that does not exist. */
export async function simulatePacks(
  ids: readonly string[],
  folder: string | undefined,
  now = systemClock,
): Promise<PlannedPacks> {
  const own = await readOwnPacks(folder)
  const all = [...new Set(ids)].map((id) => packOf(id, own.packs))
  const packs = new SimulatedPacks(now)
  return {
    packs,
    all,
    simulationFor: ({ publicUrl }) => ({
      around: (outgoing) => partlySimulated(outgoing, packs),
      pages: simulatedPages(packs, publicUrl),
    }),
    async addTo(transport, { publicUrl }) {
      const api = apiOver(transport)
      const about: string[] = []
      for (const pack of all) about.push(...(await addSimulated(api, { packs, pack, publicUrl })))
      return about
    },
  }
}

function packOf(id: string, own: readonly Pack[]): Pack {
  const pack = shippedPack(id) ?? own.find((one) => one.id === id)
  if (pack !== undefined) return pack
  const known = [...packIds(), ...own.map((one) => one.id)]
  throw new CommandFailure(`There is no tool pack "${id}".${didYouMean(id, known)}`, EXIT.notFound)
}

/** Adds what `gatepass packs add` adds, and lets the simulation answer for it. */
async function addSimulated(
  api: Api,
  {
    packs,
    pack,
    publicUrl,
  }: { readonly packs: SimulatedPacks; readonly pack: Pack; readonly publicUrl: URL },
): Promise<readonly string[]> {
  const detail = await api.call('getPack', { params: { id: pack.id } })
  const entries: AuthProviderResponse[] = []
  for (const id of new Set(detail.tools.map((tool) => tool.provider_id)))
    entries.push(
      (await api.find('getAuthProvider', { params: { id } })) ??
        (await addEntry(api, { id, detail, publicUrl })),
    )
  await packs.add(pack, entries)
  await api.call('createWorker', { body: bodyOf<'createWorker'>(detail.worker) })
  const toolset = await api.call('createToolset', { body: bodyOf<'createToolset'>(detail.toolset) })
  if (detail.policy !== undefined)
    await api.call('createPolicy', { body: bodyOf<'createPolicy'>(detail.policy) })
  const typed = entries.flatMap(({ id }) => {
    const values = Object.entries(packs.typedAt(id)).map(([name, value]) => `${name} ${value}`)
    return values.length === 0 ? [] : [`${pack.name} asks users for keys; type ${values.join(', ')}`]
  })
  return [`${pack.name}: ${quantity(pack.tools.length, 'tool')}, for MCP clients at ${toolset.url}`, ...typed]
}

/** The entry of a provider with a client of the simulation, whose consent page this server has. */
async function addEntry(
  api: Api,
  {
    id,
    detail: { worker },
    publicUrl,
  }: { readonly id: string; readonly detail: PackDetail; readonly publicUrl: URL },
): Promise<AuthProviderResponse> {
  const definition = builtIn(id)
  if (definition === undefined)
    throw new CommandFailure(`The catalogue has no provider "${id}", which a simulated pack needs.`)
  const { body } = catalogueEntry(definition)
  if (definition.provider.authorizationRequest === undefined)
    return api.call('createAuthProvider', { body: bodyOf<'createAuthProvider'>(body) })
  const { api: own } = definition.provider
  const { variables = {} } = (body.oauth2 ?? {}) as { readonly variables?: object }
  const oauth2 = {
    ...SIMULATED_CLIENT,
    authorize_request: { endpoint: new URL(`sandbox${SIMULATED_PAGES}/${id}`, publicUrl).href },
    // an entry with an endpoint of its own does not inherit where tokens may go
    ...(own && { api: writeApi(own) }),
    variables: { ...variables, ...missingVariables(worker, definition.provider) },
  }
  return api.call('createAuthProvider', {
    body: bodyOf<'createAuthProvider'>({ ...body, oauth2 }),
  })
}

/** The pack's answer and the catalogue's entry are bodies of these operations. */
function bodyOf<Id extends 'createAuthProvider' | 'createWorker' | 'createToolset' | 'createPolicy'>(
  body: object,
) {
  return body as Operations[Id]['body']
}

/** The values of the connection in URLs of the pack that the provider does not have: an administrator sets them. */
function missingVariables(
  worker: object,
  { variables = {}, keptValues = {} }: { readonly variables?: object; readonly keptValues?: object },
): Record<string, object> {
  const named = [...JSON.stringify(worker).matchAll(/"url":"[^"]*?\{\{(\w+)\}\}/g)].map(
    ([, name = '']) => name,
  )
  const missing = [...new Set(named)].filter((name) => !(name in variables) && !(name in keptValues))
  return Object.fromEntries(
    missing.map((name) => [
      name,
      { label: name, pattern: '[a-z0-9-]+', value: `simulated-${name.replaceAll('_', '-')}` },
    ]),
  )
}
