import type { z } from 'zod'
import type { requestDescription } from '../../operations/worker-types/openapi-request.ts'
import type { Pack, PackTool } from './wire-format.ts'

type RequestWire = z.input<typeof requestDescription>

export interface PackChoice {
  /** Only tools that change nothing, so that only scopes for reading are asked for. */
  readonly readOnly?: boolean | undefined
  /** Only these tools, by name. */
  readonly tools?: readonly string[] | undefined
  /**
   * The id of the provider entry whose tokens the tools use. Absent: an entry of the pack's provider. Tools that name a provider
   * of their own use an entry of that one.
   */
  readonly providerId?: string | undefined
}

export function chosenTools({ tools }: Pack, { readOnly, tools: names }: PackChoice): PackTool[] {
  return tools.filter(
    (tool) =>
      (readOnly !== true || tool.annotations?.readOnlyHint === true) &&
      (names === undefined || names.includes(tool.name)),
  )
}

/** What registers the tools of a pack: the body of `POST /v1/workers`. */
export function workerOfPack(pack: Pack, choice: PackChoice = {}) {
  return {
    id: pack.id,
    openapi: {
      namespace: pack.namespace,
      ...(pack.headers && { headers: pack.headers }),
      requests: chosenTools(pack, choice).map((tool) => requestOf(pack, tool, choice)),
    },
  }
}

function requestOf(pack: Pack, tool: PackTool, { providerId }: PackChoice): RequestWire {
  const { $schema: _, scopes, alternatives, approval: __, checks: ___, examples: ____, ...described } = tool
  const { provider: own, ...request } = described
  const provider =
    own === undefined && providerId !== undefined ? { id: providerId } : { provider_id: own ?? pack.provider }
  return {
    ...request,
    url: absolute(pack, request.url),
    ...(request.pages?.request?.url !== undefined && {
      pages: {
        ...request.pages,
        request: { ...request.pages.request, url: absolute(pack, request.pages.request.url) },
      },
    }),
    version: pack.version,
    tags: [pack.id],
    authorization: { ...provider, scopes, ...(alternatives && { alternatives }) },
    ...((pack.errors || tool.errors) && { errors: errorsOf(pack, tool) }),
  }
}

/** What the pack says about errors, and above it what the tool says about its own. */
function errorsOf({ errors: ofPack = {} }: Pack, { errors: ofTool = {} }: PackTool) {
  return {
    ...ofPack,
    ...ofTool,
    kinds: { ...ofPack.kinds, ...ofTool.kinds },
    advice: { ...ofPack.advice, ...ofTool.advice },
  }
}

function absolute({ base_url: base }: Pack, url: string): string {
  return url.startsWith('/') ? base + url : url
}

/** The body of `POST /v1/admin/policies` that has a person approve what destroys something or reaches others. */
export function approvalsOfPack(pack: Pack, choice: PackChoice = {}) {
  const asking = chosenTools(pack, choice).filter(({ approval }) => approval === 'ask')
  if (asking.length === 0) return undefined
  return {
    id: `${pack.id}-approvals`,
    description: `${pack.name}: a person approves each call that destroys something or reaches other people.`,
    effect: 'approve' as const,
    match: { tools: asking.map(({ name }) => `${pack.namespace}:${name}`) },
    approve: { by: 'user' as const },
  }
}
