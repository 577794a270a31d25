import type { Broker } from '../broker.ts'

/** The response with its state as `state`, where the entry whose redirect URI was called has another name for it (Crisp). */
export async function withStandardState(
  { store }: Pick<Broker, 'store'>,
  providerUid: string,
  query: URLSearchParams,
): Promise<URLSearchParams> {
  if (query.has('state')) return query
  const name = (await store.providers.findByUid(providerUid))?.provider.stateParameter
  if (name === undefined) return query
  const standard = new URLSearchParams(query)
  standard.delete(name)
  for (const state of query.getAll(name)) standard.append('state', state)
  return standard
}
