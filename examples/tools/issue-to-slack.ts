// Posts an issue of GitHub to a channel of Slack: one tool, two providers, one link for the user.
//   gatepass tools dev examples/tools/issue-to-slack.ts
import { GitHub, Slack, ToolApp, UpstreamError } from 'gatepass/tools'
import { z } from 'zod'

const githubApi = process.env.GITHUB_API ?? 'https://api.github.com'
const slackApi = process.env.SLACK_API ?? 'https://slack.com/api'

const Issue = z.object({ title: z.string(), html_url: z.string(), state: z.string() })
const Posted = z.object({ ok: z.boolean(), error: z.string().optional() })

const app = new ToolApp({ name: 'issues', version: '1.0.0' })

app.tool('post_to_slack', {
  description: 'Posts an issue of GitHub to a channel of Slack, as the user.',
  input: z.object({
    repository: z
      .string()
      .regex(/^[\w.-]+\/[\w.-]+$/)
      .meta({ examples: ['octocat/hello-world'] }),
    issue: z.int().positive(),
    channel: z.string().describe('The name or the id of the channel'),
  }),
  // of the scopes for private repositories, `repo` is GitHub's narrowest
  requiresAuth: [GitHub({ scopes: ['repo'] }), Slack({ scopes: ['chat:write'] })],
  annotations: { destructiveHint: false, idempotentHint: false },
  async handler({ input: { repository, issue, channel }, authorizations: { github, slack }, signal }) {
    const read = await fetch(`${githubApi}/repos/${repository}/issues/${issue}`, {
      headers: { authorization: `Bearer ${github.token}`, 'user-agent': 'gatepass-example' },
      signal,
    })
    if (!read.ok) throw read
    const { title, html_url, state } = Issue.parse(await read.json())

    const post = await fetch(`${slackApi}/chat.postMessage`, {
      method: 'POST',
      headers: { authorization: `Bearer ${slack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ channel, text: `${title} (${state})\n${html_url}` }),
      signal,
    })
    if (!post.ok) throw post
    const { ok, error } = Posted.parse(await post.json()) // Slack refuses with the status 200
    if (!ok) throw new UpstreamError(`Slack refused the message: ${error}.`)
    return { posted: title, channel }
  },
})

export default app
