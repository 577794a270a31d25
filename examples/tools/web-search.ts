// A search of the web. The API key is a secret of Gatepass: callers and models never see it.
//   gatepass secrets set BRAVE_API_KEY
//   gatepass tools dev examples/tools/web-search.ts
import { ToolApp } from 'gatepass/tools'
import { z } from 'zod'

const api = process.env.BRAVE_API ?? 'https://api.search.brave.com/res/v1'

const Page = z.object({ title: z.string(), url: z.string(), description: z.string().default('') })
const Answer = z.object({ web: z.object({ results: z.array(Page) }).optional() }) // no `web`: nothing was found

const app = new ToolApp({ name: 'web', version: '1.0.0' })

app.tool('search', {
  description: 'Searches the web.',
  input: z.object({
    query: z.string().min(1).max(400),
    count: z.int().min(1).max(20).default(5),
  }),
  output: z.object({ pages: z.array(Page) }),
  requiresSecrets: ['BRAVE_API_KEY'],
  annotations: { readOnlyHint: true, openWorldHint: true },
  async handler({ input, getSecret, signal }) {
    const query = new URLSearchParams({ q: input.query, count: String(input.count) })
    const response = await fetch(`${api}/web/search?${query}`, {
      headers: { 'x-subscription-token': getSecret('BRAVE_API_KEY') },
      signal,
    })
    if (!response.ok) throw response
    return { pages: Answer.parse(await response.json()).web?.results ?? [] }
  },
})

export default app
