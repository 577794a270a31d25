/** An exclusive right that ends after `seconds`, unless its owner prolongs it. */
export interface Lease {
  readonly owner: string
  readonly seconds: number
}
