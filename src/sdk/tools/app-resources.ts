import { withoutUndefined } from '../without-undefined.ts'
import type { AppParts, PartRequest } from './app-parts.ts'
import type { Resource, ResourceContents, ResourceTemplate } from './content.ts'
import type { AppChange } from './run.ts'
import { matchTemplate } from './uri-template.ts'

export interface ResourceRequest {
  readonly uri: string
  /** The values of the template's variables, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly userId: string | null
  /** Aborted when the contents are no longer needed. */
  readonly signal?: AbortSignal
}

export interface ResourceOptions {
  /** Default: the URI. */
  readonly name?: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** Returns a text, bytes, or contents with their own URIs and types. */
  handler(request: ResourceRequest): ResourceValue | Promise<ResourceValue>
  /** Suggests values for a variable of the template (MCP `completion/complete`). */
  complete?(variable: string, value: string): readonly string[] | Promise<readonly string[]>
}

export type ResourceValue = string | Uint8Array | ResourceContents | readonly ResourceContents[]

type AppResources = AppParts['resources'] & {
  /** A URI with `{…}` is a template. */
  add(uri: string, options: ResourceOptions): Promise<void>
  remove(uri: string): Promise<boolean>
  /** Tells clients that have subscribed to the resource that its contents have changed. */
  updated(uri: string): Promise<void>
}

/** Makes the resources of an app, with `changed` to be called after each change. */
export function appResources(changed: (change: AppChange) => Promise<void>): AppResources {
  const resources = new Map<string, ResourceOptions>()
  const isTemplate = (uri: string) => uri.includes('{')
  const list = (templates: boolean) => [...resources].filter(([uri]) => isTemplate(uri) === templates)
  const describe = (uri: string, { name = uri, title, description, mimeType }: ResourceOptions) =>
    withoutUndefined({ name, title, description, mimeType })

  function find(uri: string) {
    const exact = resources.get(uri)
    if (exact !== undefined && !isTemplate(uri)) return { options: exact, params: {} }
    for (const [template, options] of list(true)) {
      const params = matchTemplate(template, uri)
      if (params !== undefined) return { options, params }
    }
    return undefined
  }

  return {
    add(uri, options) {
      if (typeof options.handler !== 'function') throw new TypeError(`The resource ${uri} has no handler.`)
      resources.set(uri, options)
      return changed('resources')
    },
    async remove(uri) {
      const wasThere = resources.delete(uri)
      if (wasThere) await changed('resources')
      return wasThere
    },
    updated: (uri) => changed({ updated: uri }),
    list: () => list(false).map(([uri, options]): Resource => ({ uri, ...describe(uri, options) })),
    listTemplates: () =>
      list(true).map(
        ([uriTemplate, options]): ResourceTemplate => ({
          uriTemplate,
          ...describe(uriTemplate, options),
        }),
      ),
    async read(uri, { userId, signal }: PartRequest) {
      const found = find(uri)
      if (found === undefined) return undefined
      const { options, params } = found
      const value = await options.handler({ uri, params, userId, ...(signal && { signal }) })
      return toContents(value, uri, options.mimeType)
    },
    async complete(template, variable, value) {
      return (await resources.get(template)?.complete?.(variable, value)) ?? []
    },
  }
}

function toContents(value: ResourceValue, uri: string, mimeType: string | undefined): ResourceContents[] {
  const type = mimeType === undefined ? {} : { mimeType }
  if (typeof value === 'string') return [{ uri, ...type, text: value }]
  if (value instanceof Uint8Array) return [{ uri, ...type, blob: base64(value) }]
  return Array.isArray(value) ? [...value] : [value as ResourceContents] // Array.isArray does not narrow a readonly array
}

function base64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}
