import { fileURLToPath } from 'node:url'
import { type ClientOptions, Gatepass } from '../../src/sdk/client/gatepass.ts'
import { providerBody, startWorld, type World, type WorldOptions } from '../http/world.ts'

/** A world whose Gatepass has the tools of `test/fixtures/run-tools.ts` too, and a client of the SDK. */
export interface SdkWorld extends World {
  readonly client: Gatepass
  /** A client with other options. */
  clientWith(options: ClientOptions): Gatepass
}

export async function startSdkWorld(options: WorldOptions = {}): Promise<SdkWorld> {
  const environment = {
    GATEPASS_TOOLS: fileURLToPath(new URL('../fixtures/run-tools.ts', import.meta.url)),
    ...options.gatepass?.environment,
  }
  const world = await startWorld({ ...options, gatepass: { ...options.gatepass, environment } })
  const other = await world.call('POST', '/v1/admin/auth_providers', providerBody('other', world.as))
  if (other.status !== 201) throw new Error(JSON.stringify(other.body))
  const { url: baseUrl, apiKey } = world.gatepass
  return {
    ...world,
    client: new Gatepass({ baseUrl, apiKey }),
    clientWith: (more) => new Gatepass({ baseUrl, apiKey, ...more }),
  }
}
