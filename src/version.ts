import { readFileSync } from 'node:fs'

/** This release, as package.json says. */
export const version: string = readVersion()

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(text) as { version: string } // npm's own format
  return version
}
