/** This release, as package.json says. */
export const version = '0.1.0'
