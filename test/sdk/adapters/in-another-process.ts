import { spawn } from 'node:child_process'
import { onDemand } from '../../on-demand/ask.ts'
import type { AgentWorld } from './agent-world.ts'
import type { ScriptedModel } from './scripted-model.ts'

/** The input of a program, and `approve`, which is called with the link that it prints. */
export interface Program {
  readonly arguments: readonly string[]
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly approve?: (url: string) => Promise<void>
}

/** Runs a program with a Gatepass and a scripted model in its environment, and answers what it prints. */
export async function inAnotherProcess(
  file: URL,
  { world }: AgentWorld,
  model: ScriptedModel,
  { arguments: more, input = '', environment, approve }: Program,
): Promise<string> {
  await onDemand('sdk')
  const command = file.pathname.endsWith('.py') ? 'python3' : process.execPath
  const { PATH, HOME } = process.env
  const child = spawn(command, [file.pathname, ...more], {
    env: {
      ...(command === 'python3' && { PATH, HOME }), // where `python3` is
      GATEPASS_URL: world.gatepass.url,
      GATEPASS_API_KEY: world.gatepass.apiKey,
      OPENAI_BASE_URL: `${model.url}/v1`,
      OPENAI_API_KEY: 'scripted',
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'scripted',
      OPENAI_AGENTS_DISABLE_TRACING: '1',
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(input)
  let printed = ''
  let isApproved = false
  for await (const chunk of child.stdout) {
    printed += chunk
    const [url] = /http\S+\/(?:connect|approve)\/\S+/.exec(printed) ?? []
    if (url === undefined || isApproved) continue
    isApproved = true
    await approve?.(url)
  }
  return printed
}
