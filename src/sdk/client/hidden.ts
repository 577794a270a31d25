/** The methods by which `console.log` of Node, Bun and Deno shows a value. */
const INSPECT = [Symbol.for('nodejs.util.inspect.custom'), Symbol.for('Deno.customInspect')]

/** Makes logs and template strings show `text` in place of the object, so that its secrets do not get into them. */
export function hideBehind(value: object, text: string): void {
  for (const method of [...INSPECT, 'toString']) Object.defineProperty(value, method, { value: () => text })
}
