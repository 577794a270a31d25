import canonicalize from 'canonicalize'
import { sha256 } from '../domain/ids.ts'
import type { Tool, ToolRequirements } from '../domain/tool.ts'
import { isRecord, type JsonRecord } from '../parsing/json-record.ts'
import type { CatalogueTool } from './backend.ts'

// What a tool says of itself and does: the part of it that an administrator accepts, and that an approval is bound to.

/** A tool as the store or a worker's list has it. */
export type DefinedTool = Pick<
  CatalogueTool,
  'name' | 'title' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations' | 'requirements'
> &
  ({ readonly document: JsonRecord } | Pick<Tool, 'source'>)

const knownDigests = new WeakMap<DefinedTool, string>()

/** SHA-256, in base64url, of the definition as RFC 8785 writes it. Equal for a tool as listed and as stored. */
export function definitionDigest(tool: DefinedTool): string {
  const known = knownDigests.get(tool)
  if (known !== undefined) return known
  const digest = sha256(canonicalJson(definitionOf(tool)))
  knownDigests.set(tool, digest)
  return digest
}

/**
 * The digest of all that decides what a run does: the definition of the worker's tool, that of an imported tool which is
 * bound to it, and how the input becomes a request.
 */
export function runDefinition(tool: DefinedTool, workerTool: DefinedTool): string {
  const [own, workers] = [definitionDigest(tool), definitionDigest(workerTool)]
  const definitions = own === workers ? workers : `${own} ${workers}`
  const { request } = documentOf(workerTool)
  if (request !== undefined) return sha256(`${definitions} ${canonicalJson({ request })}`)
  return own === workers ? workers : sha256(definitions)
}

function documentOf(tool: DefinedTool): JsonRecord {
  return 'source' in tool ? tool.source.document : tool.document
}

/**
 * The members of the definition, as people compare them. The toolkit and the version are part of the tool's id, and the
 * token for the server that runs the tool gives access to nothing else: none of these is in the definition.
 */
export function definitionOf(tool: DefinedTool): JsonRecord {
  const document = documentOf(tool)
  const { name, title = name, description, inputSchema, outputSchema, annotations, requirements } = tool
  const { execution } = document
  return {
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
    requirements: withoutServer(requirements),
    execution,
    ...requestOf(document),
  }
}

function withoutServer({ authorization, ...others }: ToolRequirements): ToolRequirements {
  return { ...others, authorization: authorization.filter(({ use }) => use !== 'server') }
}

/** The HTTP request of a tool that is one (`toToolDocument`). */
function requestOf({ request }: JsonRecord): JsonRecord {
  if (!isRecord(request) || typeof request.method !== 'string' || typeof request.url !== 'string') return {}
  const url = URL.parse(request.url)
  if (url === null) return {}
  const path = url.pathname.replaceAll('%7B', '{').replaceAll('%7D', '}')
  return { method: request.method, path, host: url.origin }
}

/** RFC 8785. A number beyond the range of JSON's counts as null, which the store keeps of it. */
function canonicalJson(definition: JsonRecord): string {
  try {
    return canonicalize(definition) ?? ''
  } catch {
    return canonicalize(JSON.parse(JSON.stringify(definition))) ?? ''
  }
}
