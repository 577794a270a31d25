// Docker's health check: exit code 0 when the server of this container is ready. The image has no shell and no curl.
const port = process.env.GATEPASS_PORT || 8400
const isReady = await fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(4_000) }).then(
  (response) => response.ok,
  () => false,
)
process.exit(isReady ? 0 : 1)
