// Asks which version to release, writes the draft, and publishes it once the user has agreed. It asks by forms, so it
// is served over MCP; the client starts it for its user (npm install @gatepass/sdk @modelcontextprotocol/server zod):
//   GATEPASS_URL=http://localhost:8400 GATEPASS_API_KEY=... GATEPASS_USER=ada node examples/tools/release.ts
import { Gatepass } from '@gatepass/sdk'
import { GitHub, ToolApp } from '@gatepass/sdk/tools'
import { z } from 'zod'

const api = process.env.GITHUB_API ?? 'https://api.github.com'

const Release = z.object({ id: z.number(), html_url: z.string(), body: z.string() })
const Version = z.object({ tag: z.string().describe('Such as v1.2.0'), prerelease: z.boolean() })
const Agreement = z.object({ publish: z.boolean().describe('Publish it now') })

const app = new ToolApp({ name: 'releases', version: '1.0.0', gatepass: new Gatepass() })

app.tool('release', {
  description: 'Releases a version of a repository. The user names the version and agrees to the notes.',
  input: z.object({ repository: z.string().regex(/^[\w.-]+\/[\w.-]+$/) }),
  requiresAuth: GitHub({ scopes: ['repo'] }),
  async handler({ input: { repository }, authorization, ui, step, progress, signal }) {
    const github = async (method: string, path: string, body: object) => {
      const response = await fetch(`${api}/repos/${repository}/releases${path}`, {
        method,
        headers: {
          authorization: `Bearer ${authorization.token}`,
          'content-type': 'application/json',
          'user-agent': 'gatepass-example',
        },
        body: JSON.stringify(body),
        signal,
      })
      if (!response.ok) throw response
      return Release.parse(await response.json())
    }

    const { content: version } = await ui.elicit(`Which version of ${repository}?`, Version)
    if (version === undefined) return 'Nothing was released.'

    await progress.report(1, 3, 'Writing the draft')
    // after an answer of the user this handler may run again from its beginning: a step runs once
    const { tag, prerelease } = version
    const draft = await step('draft', () =>
      github('POST', '', { tag_name: tag, prerelease, draft: true, generate_release_notes: true }),
    )

    await progress.report(2, 3, 'Asking for agreement')
    const { content: agreement } = await ui.elicit(`Publish ${tag}?\n\n${draft.body}`, Agreement)
    if (!agreement?.publish) return { published: false, url: draft.html_url }

    await progress.report(3, 3, 'Publishing')
    const { html_url } = await github('PATCH', `/${draft.id}`, { draft: false })
    return { published: true, url: html_url }
  },
})

export default app
// started as a program; Node knows this member since 24.2
if (import.meta.main) await app.serve({ as: 'mcp', transport: 'stdio' })
