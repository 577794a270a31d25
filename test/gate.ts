/** Something in a test waits for `opened`, which resolves when the test calls `open`. */
export function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: () => resolve() }
}
