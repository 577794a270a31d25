import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { invalidMember } from '../../domain/errors.ts'
import type { Project } from '../../domain/project.ts'
import { administersInstallation, createProject, projectOf } from '../../flows/manage-keys.ts'
import { pageQuery, pageSchema, slicePage } from '../../operations/schemas/page.ts'
import type { AddEndpoint } from '../endpoint/endpoint.ts'

/** The name of a new project has only characters that need no quoting in a shell, a URL or a configuration file. */
const projectName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/, 'letters, digits, _ . - only, a letter or digit first')
export const newProjectSchema = z.object({ name: projectName })
const projectSchema = z
  .object({ id: z.string(), name: z.string(), created_at: z.string() })
  .openapi('Project')

const tag = 'API keys'

/** The projects of the installation. */
export function addProjects(add: AddEndpoint, broker: Broker): void {
  add(
    {
      operationId: 'listProjects',
      method: 'get',
      path: '/v1/admin/projects',
      role: 'admin',
      tag,
      summary: 'The projects',
      description: 'All of them for an administrator of the project `default`; for others only their own.',
      query: z.object(pageQuery),
      responses: { 200: { description: 'A page', schema: pageSchema(projectSchema) } },
    },
    async ({ c, query, caller }) => {
      const own = await projectOf(broker, caller)
      const projects = administersInstallation(own) ? await broker.store.projects.list() : [own]
      return c.json(slicePage(projects.map(projectToWire), query))
    },
  )

  add(
    {
      operationId: 'createProject',
      method: 'post',
      path: '/v1/admin/projects',
      role: 'admin',
      tag,
      summary: 'Make a project',
      description:
        'Only for an administrator of the project `default`. The new project has no key yet: POST /v1/admin/keys with its name as `project` makes the first one.',
      body: newProjectSchema,
      responses: { 201: { description: 'Made', schema: projectSchema } },
    },
    async ({ c, body, caller }) =>
      c.json(projectToWire(await createProject(broker, await projectOf(broker, caller), body.name)), 201),
  )
}

/**
 * Checks the member `project` of a request. Throws `invalid_request` for an invalid name. The name of the caller's own
 * project may be older than that rule.
 */
export function checkedProjectName(name: string, own: Project): string {
  if (name === own.name || projectName.safeParse(name).success) return name
  throw invalidMember(
    'project',
    'invalid',
    `"${name}" is not a valid name of a project: letters, digits, _ . - only, a letter or digit first, at most 100.`,
  )
}

function projectToWire({ id, name, createdAt }: Project): z.infer<typeof projectSchema> {
  return { id, name, created_at: toTimestamp(createdAt) }
}
