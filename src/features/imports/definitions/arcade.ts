import { isRecord, type JsonRecord } from '../../../parsing/json-record.ts'
import {
  carried,
  type ImportedProvider,
  type ImportNote,
  type ImportOptions,
  idOf,
  notCarried,
} from './imported.ts'

/** The client is no part of a definition: `gatepass providers set` asks for it. */
const OF_THE_CLIENT = new Set(['client_id', 'client_secret', 'redirect_uri'])
const OF_THE_ENTRY = new Set(['id', 'description', 'enabled', 'type', 'provider_id', 'external_id', 'oauth2'])

/**
 * The providers of an engine configuration of Arcade (`auth.providers`), whose blocks Gatepass's API has too. For what
 * it leaves out, Arcade's own defaults hold: PKCE is off unless enabled.
 */
export function importArcade(document: JsonRecord, options: ImportOptions): readonly ImportedProvider[] {
  const providers = isRecord(document.auth) ? document.auth.providers : undefined
  if (!Array.isArray(providers)) return []
  return providers.map((provider, index) =>
    isRecord(provider) && typeof provider.id === 'string'
      ? importEntry(provider.id, provider, options)
      : notCarried(`auth.providers.${index}`, 'has no id'),
  )
}

function importEntry(name: string, entry: JsonRecord, options: ImportOptions): ImportedProvider {
  const id = idOf(name)
  if (id === undefined) return notCarried(name, 'no id can be made of its name')
  if (entry.type !== undefined && entry.type !== 'oauth2') return notCarried(name, 'no OAuth 2', 'type')
  const { oauth2 } = entry
  if (!isRecord(oauth2)) {
    const known = typeof entry.provider_id === 'string' ? entry.provider_id : undefined
    return known === undefined
      ? notCarried(name, 'has neither oauth2 nor provider_id')
      : notCarried(name, `one of Arcade’s own: gatepass providers add ${known}`, 'provider_id')
  }
  const notes: ImportNote[] = Object.keys(entry)
    .filter((member) => !OF_THE_ENTRY.has(member) && !OF_THE_CLIENT.has(member))
    .map((member) => ({ member, reason: 'a definition has no such member' }))
  if (entry.enabled === false)
    notes.push({ member: 'enabled', reason: 'whether an entry is in use is not part of its definition' })
  const own = Object.fromEntries(Object.entries(oauth2).filter(([member]) => !OF_THE_CLIENT.has(member)))
  if (/\$\{(?:env|file):/.test(JSON.stringify(own)))
    return notCarried(
      name,
      'its values are in the environment or in files (${env:…}): write them out',
      'oauth2',
    )
  const pkce = isRecord(own.pkce) && own.pkce.enabled === true ? own.pkce : { enabled: false }
  const description = typeof entry.description === 'string' ? { description: entry.description } : {}
  return carried(name, { id, name, ...description, oauth2: { ...own, pkce } }, notes, options)
}
