/**
 * Tools that run in Gatepass's own process, for tool authors who have no worker. Gatepass loads this file and passes
 * the user's token to the handler.
 *
 * GATEPASS_TOOLS=examples/local-tools.ts npm start
 */
import { defineTool, UpstreamError } from 'gatepass/tools'
import { z } from 'zod'

const api = process.env.GITHUB_API ?? 'https://api.github.com'

export const repositories = defineTool({
  name: 'Repositories',
  version: '1.0.0',
  description: 'Lists the user’s repositories, most recently pushed first.',
  input: z.object({ count: z.number().int().min(1).max(100).default(10) }),
  output: z.object({ repositories: z.array(z.string()) }),
  requiresAuth: { provider: 'github', scopes: ['read:user'] },
  annotations: { readOnlyHint: true },
  async handler({ input, authorization, signal }) {
    const response = await fetch(`${api}/user/repos?sort=pushed&per_page=${input.count}`, {
      headers: { authorization: `Bearer ${authorization.token}`, 'user-agent': 'gatepass-example' },
      signal,
    })
    if (!response.ok)
      throw new UpstreamError(`GitHub answered ${response.status}.`, { statusCode: response.status })
    const found = z.array(z.object({ full_name: z.string() })).parse(await response.json())
    return { repositories: found.map((one) => one.full_name) }
  },
})

export const dice = defineTool({
  name: 'Dice',
  version: '1.0.0',
  description: 'Rolls dice: a tool that needs no authorization.',
  input: z.object({ sides: z.number().int().min(2).max(1000).default(6) }),
  handler: ({ input }) => ({ rolled: 1 + Math.floor(Math.random() * input.sides) }),
})
