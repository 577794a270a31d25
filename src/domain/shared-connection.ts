import type { EpochSeconds } from './clock.ts'
import { matchesText } from './match-text.ts'
import type { UsedTool } from './requested-use.ts'

/**
 * A connection of the project, which an administrator shares. Its tokens are in connections without a user, one for each
 * set of scopes that is needed.
 */
export interface SharedConnection {
  readonly id: string
  readonly projectId: string
  readonly providerUid: string
  /** What people call it; unique for the provider in its project. */
  readonly name: string
  /** The most scopes that its tokens may have. Absent: those that each use needs. */
  readonly scopes?: readonly string[]
  readonly sharedWith: SharedWith
  /** The MAC of the members that grant rights (`protected-tables.ts`); the store writes it. */
  readonly mac?: string
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
}

/** The user of the connections that hold tokens of shared ones: none. The API refuses it as the id of a user. */
export const NO_USER = ''

/** Who may use it: a use has to match each of these, by patterns in which `*` is any characters. */
export interface SharedWith {
  readonly users: readonly string[]
  /** The ids and names of API keys, and the client ids of MCP clients. Absent: any. */
  readonly agents?: readonly string[] | undefined
  /** Names of tools, in any case. Absent: any tool, and uses without one, such as the proxy. */
  readonly tools?: readonly string[] | undefined
}

/** A use of a shared connection. */
export interface SharedUse {
  readonly userId: string
  /** The names of the agent that calls; none where no request of an agent is the reason, as in a background refresh. */
  readonly agents: readonly string[]
  readonly tool?: Pick<UsedTool, 'ownNames'> | undefined
}

/** Whether the connection is shared with this use. Only a name that no other source can take makes a tool one of `tools`. */
export function isSharedWith({ users, agents, tools }: SharedWith, use: SharedUse): boolean {
  const names = use.tool?.ownNames ?? []
  const fits = (patterns: readonly string[], text: string) =>
    patterns.some((pattern) => matchesText(pattern, text))
  return (
    fits(users, use.userId) &&
    (agents === undefined || use.agents.some((agent) => fits(agents, agent))) &&
    (tools === undefined ||
      names.some((name) =>
        fits(
          tools.map((tool) => tool.toLowerCase()),
          name.toLowerCase(),
        ),
      ))
  )
}
