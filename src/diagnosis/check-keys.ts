import type { Broker } from '../broker.ts'
import {
  liveServers,
  missingKeys,
  nameOfServer,
  sealingKeys,
  serversWithout,
} from '../services/sealing-keys.ts'
import type { Check } from './check.ts'

/** Checks that this process, and each server that runs, has every master key in use. */
export async function checkMasterKeys({ store, sealer }: Broker): Promise<Check[]> {
  const name = 'master key'
  const missing = await missingKeys(store.facts, sealer)
  const servers = await liveServers(store)
  const lacking = serversWithout(await sealingKeys(store.facts), servers)
  const checks: Check[] = []
  if (missing.length > 0)
    checks.push({
      name,
      status: 'failed',
      message: `The database is sealed with key ${missing.join(', ')}, which this process does not have (it has ${sealer.keyIds.join(', ')}).`,
      fix: 'Add that key to GATEPASS_MASTER_KEY and restart the server. Nothing is lost.',
    })
  for (const server of lacking)
    checks.push({
      name,
      status: 'failed',
      message: `The server ${nameOfServer(server)} has only the master key ${server.keyIds.join(', ')} and cannot open what other servers seal.`,
      fix: 'Set GATEPASS_MASTER_KEY there to the same value as on the other servers, and restart it.',
    })
  if (checks.length > 0 || servers.length === 0) return checks
  const all = servers.length === 1 ? 'the server that runs' : `each of ${servers.length} server processes`
  return [{ name, status: 'ok', message: `${all} has every key in use` }]
}
