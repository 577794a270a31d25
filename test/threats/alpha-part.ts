/** What a feature makes in the project alpha. */
export interface AlphaPart {
  readonly ids?: readonly string[]
  /** Other ids, each with one that does not exist. */
  readonly twins?: readonly (readonly [id: string, twin: string])[]
  /** Texts that only alpha's resources have. */
  readonly marks?: readonly string[]
}

/** Sends requests as an administrator of alpha; `run` is the body of a run of a tool. */
export type PrepareAlpha = (
  // biome-ignore lint/suspicious/noExplicitAny: answers of the API, as in test/gatepass.ts
  alpha: (method: string, path: string, body: object) => Promise<any>,
  run: { readonly input: object },
) => Promise<AlphaPart>
