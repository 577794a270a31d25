import { hash } from 'node:crypto'
import type { Broker } from '../src/broker.ts'
import { inContext } from '../src/services/request-context.ts'
import { fileAt, keepFile, newFilePlace } from '../src/tools/stored-file.ts'

/** Keeps a file, as if a tool that the key ran had answered it. Returns its id. */
export async function answeredFile(broker: Broker, key: string, userId = 'ada'): Promise<string> {
  const apiKey = await broker.store.apiKeys.findByHash(hash('sha256', key, 'base64url'))
  if (apiKey === undefined) throw new Error('There is no such key.')
  const place = newFilePlace(broker)
  const text = 'name,words\nada,42\n'
  const about = { name: 'words.bin', contentType: 'application/octet-stream', size: text.length }
  const artifact = fileAt(place, about)
  const unstored = { place, artifact, base64: Buffer.from(text).toString('base64') }
  await inContext({ actor: { kind: 'api_key', id: apiKey.id }, apiKey }, () =>
    keepFile(
      broker,
      { projectId: apiKey.projectId, userId },
      { outcome: 'artifact', artifact, unstored, logs: [] },
    ),
  )
  return place.id
}
