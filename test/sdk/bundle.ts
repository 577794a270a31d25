import { fileURLToPath } from 'node:url'
import { build, type Rolldown } from 'vite'

/** A module of the SDK and all its imports, as one minified ES module. `imports` are those that are not bundled. */
export async function bundleSdk(
  entry: string,
): Promise<{ readonly code: string; readonly imports: readonly string[] }> {
  const input = fileURLToPath(new URL(`../../src/sdk/${entry}`, import.meta.url))
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: true,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: { input, preserveEntrySignatures: 'strict', external: () => false },
    },
  })
  const { output } = (Array.isArray(built) ? built[0] : built) as Rolldown.RolldownOutput // it is not watching
  const [chunk, ...others] = output
  if (others.length > 0) throw new Error(`${entry} is bundled into ${output.length} files`)
  return { code: chunk.code, imports: chunk.imports }
}
