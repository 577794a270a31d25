/** The user of a project at a provider: the owner of one list of connections. */
export interface ConnectionOwner {
  readonly projectId: string
  readonly providerUid: string
  readonly userId: string
}

/** What a write has changed. The caches of every process receive it and drop what is no longer true. */
export type StoreChange =
  | { readonly noun: 'connection'; readonly id: string; readonly owner: ConnectionOwner }
  | { readonly noun: 'authorization'; readonly id: string }
  | { readonly noun: 'api_key' | 'provider' | 'tool' | 'worker' | 'secret' | 'policy' }
