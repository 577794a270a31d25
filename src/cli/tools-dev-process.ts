import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { listen } from '../sdk/tools/listen.ts'
import { jsonSchemaOf } from '../sdk/tools/schema.ts'
import { isToolApp, type ToolApp } from '../sdk/tools/tool-app.ts'
import { DEV_VARIABLE, type DevMessage, type DevTask } from './tools-dev-messages.ts'

// The process in which `gatepass tools dev` runs the author's file: one for each version of the file, because modules
// cannot be unloaded.

const { file, port, secret }: DevTask = JSON.parse(process.env[DEV_VARIABLE] ?? '')
delete process.env[DEV_VARIABLE] // tools do not learn the secret

registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:') && !url.includes('/node_modules/')) send({ kind: 'loaded', url })
    return nextLoad(url, context)
  },
})
process.on('disconnect', () => process.exit()) // the command was killed

try {
  const toolModule = pathToFileURL(file).href
  const app = appOf(await import(toolModule))
  const tools = app.tools
    .list()
    .map(({ name, options }) => ({ name, inputSchema: jsonSchemaOf(options.input, 'input') }))
  if (tools.length === 0) throw new Error('its app has no tools.')
  await listen(app.worker({ secret }).fetch, { host: '127.0.0.1', port })
  send({ kind: 'serving', app: app.name, tools })
} catch (error) {
  send({ kind: 'fault', message: error instanceof Error ? error.message : String(error) })
}

function appOf(exported: Readonly<Record<string, unknown>>): ToolApp {
  const app = [exported.default, ...Object.values(exported)].find(isToolApp)
  if (app !== undefined) return app
  throw new Error('it exports no ToolApp: write `export default app`.')
}

function send(message: DevMessage): void {
  process.send?.(message)
}
