import { spawnSync } from 'node:child_process'

/**
 * Builds `@gatepass/sdk` if its sources changed, because examples import it by its name. A type error stops no test: `tsc`
 * writes the build all the same, and `npm run types` reports the error.
 */
export default function setup(): void {
  spawnSync('node_modules/.bin/tsc', ['-b', 'src/sdk'])
}
