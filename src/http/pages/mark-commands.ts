import { html } from 'hono/html'
import type { Html } from './layout.ts'

/** A command in backticks, or at the end of its sentence after a colon, as messages of Gatepass write them. */
const COMMAND = /`(gatepass [^`]+)`|(?<=: )(gatepass .+?)(?=\.(?: |$)|$)/g

/** A message in which each command is marked as code, so that readers see where it begins and ends. */
export function withCommands(message: string): Html {
  const parts: (Html | string)[] = []
  let from = 0
  for (const match of message.matchAll(COMMAND)) {
    parts.push(message.slice(from, match.index), html`<code>${match[1] ?? match[2]}</code>`)
    from = match.index + match[0].length
  }
  return html`${[...parts, message.slice(from)]}`
}
