import type { Sandbox } from '../http/console/tour.ts'
import { DEFAULT_ACCOUNT } from './accounts.ts'
import { SANDBOX_PROVIDER } from './definition.ts'
import { SANDBOX_WORKER } from './mount.ts'
import { SAMPLE_TOOL } from './profile-tool.ts'
import { sampleMetadata } from './sample-metadata.ts'

/** What a newcomer tries in the sandbox, in the console as in a terminal. The user has the name of the account that approves. */
export function sandboxSample(publicUrl: URL): Sandbox {
  return {
    providerId: SANDBOX_PROVIDER,
    workerId: SANDBOX_WORKER,
    toolName: SAMPLE_TOOL,
    userId: DEFAULT_ACCOUNT.sub,
    metadata: sampleMetadata(publicUrl),
  }
}
