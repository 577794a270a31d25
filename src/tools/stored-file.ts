import type { Broker } from '../broker.ts'
import { toTimestamp } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import type { StoredFile } from '../domain/stored-file.ts'
import { currentContext, mayActFor } from '../services/request-context.ts'
import { sealingContext } from '../store/protected-tables.ts'
import { type FilePlace, ownError, type ToolAnswer, type UnstoredFile } from './tool-answer.ts'

// Files that an API answers with: kept for an hour for the caller that made the call, which fetches them by reference. Base64
// in the answer itself would be of no use to a model.

/** The largest file. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024
/** How long a file can be fetched. */
const KEPT_SECONDS = 60 * 60
/** How many files a project may have at a time. */
const MAX_FILES = 500

export function newFilePlace({ settings, now }: Pick<Broker, 'settings' | 'now'>): FilePlace {
  const id = newId('file')
  return { id, url: `${settings.publicUrl.origin}/v1/files/${id}`, expiresAt: now() + KEPT_SECONDS }
}

/** The reference to a file that will be stored at the place. */
export function fileAt(
  { url, expiresAt }: FilePlace,
  file: Pick<UnstoredFile['artifact'], 'name' | 'contentType' | 'size'>,
): UnstoredFile['artifact'] {
  return { url, ...file, description: file.name, expiresAt: toTimestamp(expiresAt) }
}

/** Stores the file of the answer, if it has one. Returns the answer with the reference alone. */
export async function keepFile(
  broker: Broker,
  owner: Pick<StoredFile, 'projectId'> & { readonly userId?: string | undefined },
  answer: ToolAnswer,
): Promise<ToolAnswer> {
  const { unstored, ...kept } = answer
  if (unstored === undefined) return answer
  const { place, artifact, base64 } = unstored
  const { projectId, userId } = owner
  const { store, sealer, now } = broker
  if ((await store.storedFiles.count(projectId, MAX_FILES, now())) >= MAX_FILES)
    return ownError({
      kind: 'TOOL_RUNTIME_RETRY',
      message: `The tool answered a file, and the project has ${MAX_FILES} files, the most at a time. Each is deleted an hour after it was made.`,
      canRetry: true,
    })
  const caller = callerOfRequest()
  await store.storedFiles.add({
    id: place.id,
    projectId,
    ...(userId !== undefined && { userId }),
    ...(caller !== undefined && { caller }),
    name: artifact.name,
    contentType: artifact.contentType,
    size: artifact.size,
    expiresAt: place.expiresAt,
    content: sealer.seal(base64, sealingContext('storedFiles', 'content', { id: place.id, projectId })),
  })
  return kept.outcome === 'value' ? { ...kept, files: [artifact] } : kept
}

/** A file, for the caller that made the call and the user for whom it was made. Throws `not_found` for anybody else. */
export async function getFile(
  { store, sealer, now }: Pick<Broker, 'store' | 'sealer' | 'now'>,
  projectId: string,
  id: string,
): Promise<Omit<StoredFile, 'content'> & { readonly bytes: Uint8Array<ArrayBuffer> }> {
  const file = await store.storedFiles.find(projectId, id, now())
  if (file === undefined || file.caller !== callerOfRequest() || !mayActFor(file.userId))
    throw new BrokerError(
      'not_found',
      `There is no file "${id.slice(0, 100)}" for this caller. Files are kept for an hour, for the caller whose tool answered them.`,
    )
  const { content, ...about } = file
  const base64 = sealer.open(content, sealingContext('storedFiles', 'content', { id, projectId }))
  return { ...about, bytes: new Uint8Array(Buffer.from(base64, 'base64')) }
}

/** The id of a file by the address that its reference has. */
export function fileIdOf({ settings }: Pick<Broker, 'settings'>, url: string): string | undefined {
  const base = `${settings.publicUrl.origin}/v1/files/`
  return url.startsWith(base) ? url.slice(base.length) : undefined
}

/** The API key or the MCP client of the request; also of one that was scheduled before. */
function callerOfRequest(): string | undefined {
  const { apiKey, actor } = currentContext()
  return apiKey?.id ?? (actor.kind === 'api_key' ? actor.id : actor.client)
}
