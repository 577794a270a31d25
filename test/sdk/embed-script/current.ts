import { fileURLToPath } from 'node:url'
import { bundleSdk } from '../bundle.ts'

export const EMBED_FILE = fileURLToPath(
  new URL('../../../src/features/embed/generated/embed-script.ts', import.meta.url),
)

/** The module that holds `@gatepass/sdk/browser` as one script. */
export async function embedModule(): Promise<string> {
  const { code } = await bundleSdk('browser.ts')
  return `/** \`@gatepass/sdk/browser\` as one script, made by \`npm run embed-script\`. */
export const embedScript = ${JSON.stringify(code)}
`
}
