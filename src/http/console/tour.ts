import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { html } from 'hono/html'
import { BrokerError } from '../../domain/errors.ts'
import { DEFAULT_PROJECT } from '../../domain/project.ts'
import { listAuditEntries } from '../../operations/admin/audit.ts'
import { listConnections } from '../../operations/authorizations/connections.ts'
import { listAuthProviders } from '../../operations/providers/auth-providers.ts'
import { getExecution, listExecutions } from '../../operations/tools/executions.ts'
import { authorizeTool, importTools } from '../../operations/tools/tools.ts'
import { getTool } from '../../tools/catalogue/get-tool.ts'
import { tryTool } from '../../tools/run/try-tool.ts'
import { type Html, name } from '../pages/layout.ts'
import { badge, buttonLink } from './elements.ts'
import { submit } from './form-fields.ts'
import { perform } from './perform.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'

// The console of a new installation of development: five steps, from the first consent to a provider of one's own. The
// steps run operations of the API and read what the store has. Only two things are the browser's: that the developer has
// looked at the audit trail, and has left the tour.

/** What the tour connects and runs: the sandbox of development. */
export interface Sandbox {
  readonly providerId: string
  readonly workerId: string
  /** The tool of the worker, and the user for whom it runs. */
  readonly toolName: string
  readonly userId: string
  /** The metadata of its tool. */
  readonly metadata: object
  /** The file with the API key, unless the settings have the key. */
  readonly keyFile?: string | undefined
}

const COOKIE = 'gatepass-tour'
const REMEMBERED = { path: '/dashboard', httpOnly: true, sameSite: 'Lax', maxAge: 365 * 24 * 3600 } as const

/** Adds the tour, and returns what it is for a request: `undefined` once there is another provider, a button that
 * begins it again where the developer has left it. */
export function addTour(
  routes: ConsoleRoutes,
  sandbox: Sandbox,
): (on: OnPage) => Promise<{ readonly isUnderWay: boolean; readonly view: Html } | undefined> {
  const { providerId, workerId, toolName, userId, metadata } = sandbox

  routes.form('/tour/connect', async (on) => {
    const { items } = await perform(on, importTools, { query: { worker_id: workerId }, body: metadata })
    const [imported] = items
    if (imported?.result === 'refused')
      throw new BrokerError('invalid_request', imported.reason ?? 'The sample tool could not be imported.')
    const next_uri = new URL('/dashboard', on.broker.settings.publicUrl).href
    const asked = await perform(on, authorizeTool, {
      body: { tool_name: toolName, user_id: userId, next_uri },
    })
    if (asked.url === undefined) return on.go('', `${userId} is already connected.`)
    return on.c.redirect(asked.url, 303)
  })

  routes.form('/tour/run', async (on) => {
    const tool = await getTool(on.broker, on.projectId, toolName)
    await tryTool(on.broker, { tool, input: {}, userId }, on.c.req.raw.signal)
    return on.go('')
  })

  routes.form('/tour/audit', (on, form) => {
    const seq = Number(form.get('seq'))
    setCookie(on.c, COOKIE, 'looked', REMEMBERED)
    return on.go(`/audit/${seq}`, 'The tour continues at Overview.')
  })

  routes.form('/tour/leave', (on) => {
    setCookie(on.c, COOKIE, 'left', REMEMBERED)
    return on.go('')
  })

  routes.form('/tour/begin', (on) => {
    deleteCookie(on.c, COOKIE, REMEMBERED)
    return on.go('')
  })

  return async (on) => {
    if (!on.mayChange || on.session.project.name !== DEFAULT_PROJECT) return undefined
    const { items: providers } = await perform(on, listAuthProviders)
    if (providers.some(({ id }) => id !== providerId)) return undefined
    if (getCookie(on.c, COOKIE) === 'left')
      return {
        isUnderWay: false,
        view: html`${on.form('/tour/begin', submit('Start tour', 'secondary'))}`,
      }
    return { isUnderWay: true, view: tourView(on, await progressOf(on, sandbox), sandbox) }
  }
}

interface Progress {
  readonly isConnected: boolean
  /** What the tool answered last. */
  readonly answer?: unknown
  /** The entry of the audit trail about the latest release of the token. */
  readonly release?: { readonly seq: number; readonly fingerprint?: string | undefined }
  readonly hasLooked: boolean
  /** A program has run the tool by the API. */
  readonly programRan: boolean
}

async function progressOf(on: OnPage, { providerId, toolName, userId }: Sandbox): Promise<Progress> {
  const [connections, runs, releases] = await Promise.all([
    perform(on, listConnections, { query: { user_id: userId } }),
    perform(on, listExecutions, { query: { user_id: userId, tool: toolName } }),
    perform(on, listAuditEntries, {
      query: { user_id: userId, action: 'token.released', provider_id: providerId, limit: '1' },
    }),
  ])
  const succeeded = runs.items.filter(({ outcome }) => outcome === 'value')
  const [latest] = succeeded.filter(({ entry_point }) => entry_point === 'console')
  const detail = latest && (await perform(on, getExecution, { params: { id: latest.id } }))
  const [release] = releases.items
  return {
    isConnected: connections.items.some(
      ({ provider_id, status }) => provider_id === providerId && status === 'active',
    ),
    ...(latest && { answer: detail?.attempts?.at(-1)?.output?.value ?? { outcome: 'value' } }),
    ...(release && { release }),
    hasLooked: getCookie(on.c, COOKIE) === 'looked',
    programRan: succeeded.some(({ entry_point }) => entry_point !== 'console'),
  }
}

interface Step {
  readonly title: string
  readonly text: Html
  readonly isDone: boolean
  /** The one button of the step; `undefined` until the steps before it are done. */
  readonly button: Html | '' | undefined
}

function tourView(on: OnPage, progress: Progress, sandbox: Sandbox): Html {
  const steps = stepsOf(on, progress, sandbox)
  const next = steps.findIndex(({ isDone }) => !isDone)
  const wasRefused = on.query('status') === 'failed'
  return html`${wasRefused && html`<p class="note bad" role="alert">Consent was not given. Connect again, and approve.</p>`}
<div class="head"><h2>Your first minute: a tool that acts for a user</h2>${on.form('/tour/leave', submit('Leave tour', 'secondary'))}</div>
<ol class="tour">${steps.map(
    ({ title, text, isDone, button }, i) =>
      html`<li class="card${i === next ? ' next' : ''}"${i === next ? html` aria-current="step"` : ''}><div class="head"><h3>${i + 1}. ${title}</h3>${isDone ? badge('done', 'good') : i === next ? badge('next', 'wait') : badge('later')}</div>
${text}${button}</li>`,
  )}</ol>
<p class="muted small">Only the provider is simulated: the sandbox takes the place of one such as GitHub. <a href="/docs">API reference</a> · <a href="/docs/mcp">Connect an MCP client</a></p>`
}

function stepsOf(on: OnPage, progress: Progress, sandbox: Sandbox): readonly Step[] {
  const { userId } = sandbox
  const { isConnected, answer, release, hasLooked, programRan } = progress
  const hasRun = answer !== undefined
  const firstOr = (isFirst: boolean) => (isFirst ? 'primary' : 'secondary')
  return [
    {
      title: `Connect the sandbox as ${userId}`,
      text: html`<p>Imports a sample tool, which needs an account at the sandbox. Act as the user <code>${userId}</code>: read who asks for what, and approve.</p>`,
      isDone: isConnected,
      button: on.form(
        '/tour/connect',
        submit(isConnected ? 'Connect again' : 'Connect', firstOr(!isConnected)),
      ),
    },
    {
      title: 'Run the tool',
      text: html`<p>Gatepass puts the token of <code>${userId}</code> into the call. The caller gets the answer, but no token.</p>
${hasRun && html`<pre tabindex="0"><code>${JSON.stringify(answer, null, 2)}</code></pre>`}`,
      isDone: hasRun,
      button: isConnected
        ? on.form('/tour/run', submit(hasRun ? 'Run it again' : 'Run it', firstOr(!hasRun)))
        : undefined,
    },
    {
      title: 'See the token in the audit trail',
      text: html`<p>Each release of a token has an entry: for which user, tool, and scopes. It never contains the token, only a fingerprint${release?.fingerprint !== undefined && html`, <code>${name(release.fingerprint)}</code>`}.</p>`,
      isDone: hasLooked && release !== undefined,
      button:
        release &&
        on.form(
          '/tour/audit',
          html`<input type="hidden" name="seq" value="${release.seq}">${submit('Show the entry', firstOr(!hasLooked))}`,
        ),
    },
    {
      title: 'Do the same from a program',
      text: html`<p>Ten lines do the same. They need <code>@gatepass/sdk</code>, which a clone has; elsewhere run <code>npm install @gatepass/sdk</code>, or install the file that <code>npm pack ./src/sdk</code> makes in a clone. Run them, then reload this page.</p>`,
      isDone: programRan,
      button: html`<div class="paste"><button type="button" class="${firstOr(hasLooked && !programRan)}" hidden data-script data-copy>Copy</button>
<pre tabindex="0"><code>${programText(on.broker.settings.publicUrl, sandbox)}</code></pre></div>`,
    },
    {
      title: 'Add a real provider',
      text: html`<p>The catalogue has the endpoints and scopes of hundreds. You need your own client ID and secret. That completes the tour.</p>`,
      isDone: false,
      button: buttonLink('/catalogue', 'Choose a provider', { secondary: !programRan }),
    },
  ]
}

/** A program without a dependency but the client library, which runs in the folder where Gatepass was started. */
function programText(publicUrl: URL, { toolName, userId, keyFile }: Sandbox): string {
  // the developer's own variable comes first: it may be of a key made since
  const key = keyFile === undefined ? '' : `GATEPASS_API_KEY=\${GATEPASS_API_KEY:-$(cat ${keyFile})} `
  return `// Save as hello.mjs beside the database, then: ${key}node hello.mjs
import { Gatepass } from '@gatepass/sdk'

const gatepass = new Gatepass({ baseUrl: '${publicUrl.origin}' })
const profile = await gatepass.as('${userId}').tools.run('${toolName}', {}, {
  consent: ({ url }) => console.log(\`Please open \${url} and approve.\`),
})

console.log(profile)
`
}
