// What features add to the types of the store: see `store-part.ts`.

/** The tables of features. */
// biome-ignore lint/suspicious/noEmptyInterface: features extend it
export interface PartTables {}

/** The nouns of features. */
// biome-ignore lint/suspicious/noEmptyInterface: features extend it
export interface PartNouns {}

/** By its noun, each change that features announce. */
// biome-ignore lint/suspicious/noEmptyInterface: features extend it
export interface PartChanges {}
