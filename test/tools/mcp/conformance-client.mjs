// The client command of the conformance suite, which appends the URL of its server. The Gatepass of the test connects.

const [control, url] = process.argv.slice(2)
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env
const response = await fetch(control, {
  method: 'POST',
  body: JSON.stringify({ url, scenario, context: JSON.parse(context) }),
})
console.log(await response.text())
process.exit(response.ok ? 0 : 1)
