// Calls a tool over MCP: one of Gatepass, or of the server at MCP_URL. Both ask for the user's consent by URL elicitation.
//   node examples/agents/mcp-client.ts Sandbox_Profile
//   MCP_URL=http://localhost:8000/mcp node examples/agents/mcp-client.ts who_am_i
import { onElicitation } from '@gatepass/sdk/mcp-client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const [name = 'who_am_i'] = process.argv.slice(2)
const { MCP_URL, GATEPASS_URL, GATEPASS_API_KEY } = process.env
const client = new Client(
  { name: 'example', version: '1.0.0' },
  { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: 'auto' } },
)
client.setRequestHandler(
  'elicitation/create',
  onElicitation(({ url, message }) => console.log(`${message} Please approve: ${url}`)),
)
await client.connect(
  MCP_URL === undefined
    ? new StreamableHTTPClientTransport(new URL(`${GATEPASS_URL}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${GATEPASS_API_KEY}` } },
      })
    : new StreamableHTTPClientTransport(new URL(MCP_URL)),
)

const { content } = await client.callTool({ name, arguments: {} }) // waits for the consent
for (const block of content) if (block.type === 'text') console.log(block.text)
await client.close()
