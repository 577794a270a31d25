import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { listen } from '../sdk/tools/listen.ts'
import { DEV_VARIABLE, type DevMessage, type DevTask, type ServedTool } from './tools-dev-messages.ts'

// The process in which `gatepass tools dev` runs the author's file: one for each version of the file, because modules
// cannot be unloaded.

/** What a `ToolApp` offers, of any copy of the SDK. */
interface AppLike {
  readonly name: string
  worker(options: { readonly secret: string }): {
    readonly fetch: (request: Request) => Response | Promise<Response>
  }
  readonly tools: { list(): readonly ServedTool[] }
}

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
  const app = appOf(await import(pathToFileURL(file).href))
  const tools = app.tools.list().map(({ name, inputSchema }) => ({ name, inputSchema }))
  if (tools.length === 0) throw new Error('its app has no tools.')
  await listen(app.worker({ secret }).fetch, { host: '127.0.0.1', port })
  send({ kind: 'serving', app: app.name, tools })
} catch (error) {
  send({ kind: 'fault', message: error instanceof Error ? error.message : String(error) })
}

function appOf(exported: Readonly<Record<string, unknown>>): AppLike {
  const app = [exported.default, ...Object.values(exported)].find(isApp)
  if (app !== undefined) return app
  throw new Error('it exports no ToolApp: write `export default app`.')
}

function isApp(value: unknown): value is AppLike {
  return (
    typeof value === 'object' && value !== null && 'worker' in value && typeof value.worker === 'function'
  )
}

function send(message: DevMessage): void {
  process.send?.(message)
}
