import type { RequestedUse } from '../../domain/requested-use.ts'
import type { PolicyQuota } from './domain.ts'

/**
 * What a use is counted for. Uses without a user, tool or agent are counted together. The window is part of it, so that a
 * quota that is changed from hours to days begins at zero.
 */
export function quotaSubject(
  { per, window }: Pick<PolicyQuota, 'per' | 'window'>,
  { userId, tool }: Pick<RequestedUse, 'userId' | 'tool'>,
  agent: string | undefined,
): string {
  return `${per}/${window}:${{ user: userId, tool: tool?.id, agent, project: undefined }[per] ?? ''}`
}

/** The subjects of everything that is counted for a user. */
export function subjectsOfUser(userId: string): string[] {
  return (['hour', 'day'] as const).map((window) =>
    quotaSubject({ per: 'user', window }, { userId }, undefined),
  )
}

/** The user, tool or agent that a subject names. */
export function nameInSubject(subject: string): string {
  return subject.slice(subject.indexOf(':') + 1)
}
