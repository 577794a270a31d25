/** A step of the main job did not go as the definition says. */
export class JobFailure extends Error {}

export function expectThat(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new JobFailure(otherwise)
}
