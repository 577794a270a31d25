// The repositories of the user, read with the user's own token.
//   gatepass tools dev examples/tools/github.ts
import { GitHub, ToolApp } from 'gatepass/tools'
import { z } from 'zod'

const api = process.env.GITHUB_API ?? 'https://api.github.com'

const Repository = z.object({
  full_name: z.string(),
  description: z.string().nullable(),
  language: z.string().nullable(),
  stargazers_count: z.number(),
})

const app = new ToolApp({ name: 'github', version: '1.0.0' })

app.tool('list_repositories', {
  description: 'Lists the public repositories of the user, most recently pushed first.',
  input: z.object({
    count: z.int().min(1).max(100).default(10).describe('How many to list'),
  }),
  output: z.object({ repositories: z.array(Repository) }),
  requiresAuth: GitHub({ scopes: ['read:user'] }),
  annotations: { readOnlyHint: true },
  async handler({ input, authorization, signal }) {
    const response = await fetch(`${api}/user/repos?sort=pushed&per_page=${input.count}`, {
      headers: { authorization: `Bearer ${authorization.token}`, 'user-agent': 'gatepass-example' },
      signal,
    })
    if (!response.ok) throw response // the caller sees "api.github.com answered 403.", and whether to try again
    return { repositories: z.array(Repository).parse(await response.json()) }
  },
})

export default app
