import type * as Wire from '../../generated/wire.ts'
import type { Body } from '../operation.ts'
import { createList, type List } from '../pages.ts'
import type { RequestOptions, Transport } from '../transport.ts'

/** The projects that the key may see. */
export interface AdminProjects {
  list(): List<Wire.Project>
  /** For administrators of the project `default` only. The project has no key yet. Not repeated after a lost answer. */
  create(name: string, options?: RequestOptions): Promise<Wire.Project>
  /** How the pages that users see of the key's project look; `id` is its id or its name. */
  branding(id: string, options?: RequestOptions): Promise<Wire.Branding>
  /** Members that are left out stay, `null` removes one. A colour that cannot be read is refused with the nearest shade. */
  changeBranding(
    id: string,
    changes: Body<'changeBranding'>,
    options?: RequestOptions,
  ): Promise<Wire.Branding>
  /** Proves the domain that `changeBranding` has set, by its DNS record. From then on users see the pages there. */
  verifyDomain(id: string, options?: RequestOptions): Promise<Wire.Branding>
}

export function createProjects({ call }: Transport): AdminProjects {
  return {
    list: () => createList((query, options) => call('listProjects', { query, options })),
    create: (name, options) => call('createProject', { body: { name }, options }),
    branding: (id, options) => call('getBranding', { params: { id }, options }),
    changeBranding: (id, body, options) => call('changeBranding', { params: { id }, body, options }),
    verifyDomain(id, options) {
      return call('verifyDomain', { params: { id }, options })
    },
  }
}
