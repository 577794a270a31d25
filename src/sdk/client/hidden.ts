/** The methods by which `console.log` of Node, Bun and Deno shows a value. */
const INSPECT = [Symbol.for('nodejs.util.inspect.custom'), Symbol.for('Deno.customInspect')]

/** Makes logs and templates show `text` in place of the object, so that what it holds does not get into them. */
export function hideBehind(value: object, text: string): void {
  for (const method of [...INSPECT, 'toString']) Object.defineProperty(value, method, { value: () => text })
}
