declare const sealed: unique symbol

/** Text that only `Sealer.seal()` makes: an AES-256-GCM envelope, the only form in which a store sees a secret. */
export type Sealed = string & { readonly [sealed]: true }
