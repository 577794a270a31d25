import type { Provider } from 'oidc-provider'

/** Shared by the pages and the endpoints of the authorization server. */
export interface AuthorizationServerParts {
  /** The project whose tools the clients call. */
  readonly projectId: string
  /** oidc-provider with the current keys. */
  provider(): Promise<Provider>
}
