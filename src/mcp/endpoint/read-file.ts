import { type ReadResourceResult, ResourceNotFoundError } from '@modelcontextprotocol/server'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { fileIdOf, getFile } from '../../tools/stored-file.ts'

/** Answers `resources/read`: a file that a tool answered to the same caller (MCP 2026-07-28, Resources). */
export async function readFile(broker: Broker, projectId: string, uri: string): Promise<ReadResourceResult> {
  const id = fileIdOf(broker, uri)
  if (id === undefined) throw new ResourceNotFoundError(uri)
  try {
    const { contentType, bytes } = await getFile(broker, projectId, id)
    return { contents: [{ uri, mimeType: contentType, blob: Buffer.from(bytes).toString('base64') }] }
  } catch (error) {
    if (error instanceof BrokerError && error.code === 'not_found') throw new ResourceNotFoundError(uri)
    throw error
  }
}
