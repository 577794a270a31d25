/** A page of a list, in the order of creation. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly total: number
}

export interface PageRequest {
  readonly offset: number
  readonly limit: number
}
