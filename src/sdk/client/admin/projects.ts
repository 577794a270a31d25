import type * as Wire from '../../wire.ts'
import { createList, type List } from '../pages.ts'
import type { RequestOptions, Transport } from '../transport.ts'

/** The projects that the key may see. */
export interface AdminProjects {
  list(): List<Wire.Project>
  /** For administrators of the project `default` only. The project has no key yet. Not repeated after a lost answer. */
  create(name: string, options?: RequestOptions): Promise<Wire.Project>
}

const PATH = '/v1/admin/projects'

export function createProjects({ call }: Transport): AdminProjects {
  return {
    list: () =>
      createList((query, options) => call<'listProjects'>({ method: 'GET', path: PATH, query, options })),
    create: (name, options) =>
      call<'createProject'>({ method: 'POST', path: PATH, body: { name }, repetition: 'unsafe', options }),
  }
}
