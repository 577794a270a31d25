import type { Broker } from '../../broker.ts'
import type { Tool } from '../../domain/tool.ts'
import { currentContext } from '../../services/request-context.ts'
import type { BackendCall } from '../backend.ts'
import { openSecret } from '../secrets.ts'

/** What a tool declared besides tokens, or a sentence that says what is missing. */
export type ToolContext =
  | ({ readonly outcome: 'complete' } & Pick<BackendCall, 'secrets' | 'metadata'>)
  | { readonly outcome: 'incomplete'; readonly message: string }

/** @param told metadata that the caller gives with the call; only what the tool declared goes to it. */
export async function toolContext(
  broker: Broker,
  { projectId, title, requirements }: Tool,
  told: Readonly<Record<string, string>> = {},
): Promise<ToolContext> {
  const opened = await Promise.all(
    requirements.secrets.map(async (key) => ({ key, value: await openSecret(broker, projectId, key) })),
  )
  const unset = opened.filter((one) => one.value === undefined).map((one) => one.key)
  if (unset.length > 0)
    return incomplete(
      `The tool "${title}" needs the secret${unset.length > 1 ? 's' : ''} ${unset.join(', ')}. An administrator sets ${unset.length > 1 ? 'them' : 'it'} by POST /v1/admin/secrets/{key}.`,
    )

  // the broker's own last: no caller says for it where it is, or who calls
  const known = new Map([...Object.entries(told), ...ownMetadata(broker)])
  const untold = requirements.metadata.filter((key) => !known.has(key))
  if (untold.length > 0)
    return incomplete(
      `The tool "${title}" needs the metadata ${untold.join(', ')}: give ${untold.length > 1 ? 'them' : 'it'} in \`metadata\` of the call.`,
    )
  return {
    outcome: 'complete',
    secrets: opened.flatMap(({ key, value }) => (value === undefined ? [] : [{ key, value }])),
    metadata: requirements.metadata.map((key) => ({ key, value: known.get(key) ?? '' })),
  }
}

/** What Arcade's engine gives to tools that declare it: where it is, and which of its clients calls. */
function ownMetadata(broker: Broker): [string, string][] {
  const { apiKey } = currentContext()
  return [
    ['coordinator_url', broker.settings.publicUrl.origin],
    ...(apiKey === undefined ? [] : [['client_id', apiKey.id] as [string, string]]),
  ]
}

function incomplete(message: string): ToolContext {
  return { outcome: 'incomplete', message }
}
