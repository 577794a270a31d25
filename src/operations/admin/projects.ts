import { z } from '@hono/zod-openapi'
import { toTimestamp } from '../../domain/clock.ts'
import { PROJECT_NAME, PROJECT_NAME_RULE, type Project } from '../../domain/project.ts'
import { administersInstallation, createProject as create, projectOf } from '../../flows/manage-keys.ts'
import { defineOperation } from '../operation.ts'
import { pageQuery, pageSchema, slicePage } from '../schemas/page.ts'

const projectSchema = z
  .object({ id: z.string(), name: z.string(), created_at: z.string() })
  .openapi('Project')

const tag = 'API keys'

export const listProjects = defineOperation({
  id: 'listProjects',
  sdk: 'admin.projects.list()',
  method: 'get',
  path: '/v1/admin/projects',
  role: 'admin',
  tag,
  summary: 'The projects',
  description: 'All of them for an administrator of the project `default`; for others only their own.',
  query: z.object(pageQuery),
  answer: 'A page',
  output: pageSchema(projectSchema),
  async run(broker, { query, caller }) {
    const own = await projectOf(broker, caller)
    const projects = administersInstallation(own) ? await broker.store.projects.list() : [own]
    return slicePage(projects.map(projectToWire), query)
  },
})

export const createProject = defineOperation({
  id: 'createProject',
  sdk: 'admin.projects.create(body.name)',
  method: 'post',
  path: '/v1/admin/projects',
  role: 'admin',
  tag,
  summary: 'Create a project',
  description:
    'Only for an administrator of the project `default`. The new project has no key yet: POST /v1/admin/keys with its name as `project` makes the first one.',
  repetition: 'unsafe',
  body: z.object({ name: z.string().regex(PROJECT_NAME, PROJECT_NAME_RULE) }),
  status: 201,
  answer: 'Made',
  output: projectSchema,
  run: async (broker, { body, caller }) =>
    projectToWire(await create(broker, await projectOf(broker, caller), body.name)),
})

export function projectToWire({ id, name, createdAt }: Project): z.infer<typeof projectSchema> {
  return { id, name, created_at: toTimestamp(createdAt) }
}
