import { type Api, refusal } from './api.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { promptText } from './prompt.ts'

// Variables in a provider's URLs that its definition leaves to the operator, such as Zendesk's subdomain.

interface Fault {
  readonly path: string
  readonly code: string
  readonly label?: string
}

/** A body of `POST /v1/admin/auth_providers`. */
interface Body {
  readonly oauth2?: { readonly variables?: Readonly<Record<string, object>> }
}

/** Adds the provider. At a terminal it prompts for the variables that the answer names as missing. */
export async function addProvider<Answer>(api: Api, path: string, body: object): Promise<Answer> {
  const first = await api.request('POST', path, { body })
  const missing = missingVariables(first.body)
  if (missing.length === 0) return accepted(api, first)
  if (!process.stdin.isTTY) {
    const options = missing.map(({ name }) => `--variable ${name}=…`).join(' ')
    const { message } = refusal(first.status, first.body, api.place)
    throw new CommandFailure(`${message} Give ${options}.`, EXIT.usage)
  }
  const { oauth2 } = body as Body // the server has read it
  const variables: Record<string, object> = { ...oauth2?.variables }
  for (const { name, wanted } of missing)
    variables[name] = { ...variables[name], value: await promptText(wanted === '' ? name : wanted) }
  const given = { ...body, oauth2: { ...oauth2, variables } }
  return accepted(api, await api.request('POST', path, { body: given }))
}

function accepted<Answer>(api: Api, { status, body }: Awaited<ReturnType<Api['request']>>): Answer {
  if (status >= 200 && status < 300) return body as Answer // the wire's contract says so
  throw refusal(status, body, api.place)
}

/** The variables without a value, with their labels and examples. */
function missingVariables(answer: unknown): readonly { readonly name: string; readonly wanted: string }[] {
  const { errors = [] } = (answer ?? {}) as { readonly errors?: readonly Fault[] } // the wire's contract says so
  return errors.flatMap(({ path, code, label = '' }) => {
    const [, name] = /^oauth2\.variables\.([a-z_]+)\.value$/.exec(path) ?? []
    if (code !== 'missing' || name === undefined) return []
    return [{ name, wanted: label }]
  })
}
