import * as keys from './keys.ts'
import type { Operation } from './operation.ts'
import * as projects from './projects.ts'

/** Every operation of the API. */
export const operations: readonly Operation[] = [keys, projects].flatMap((group) => Object.values(group))
