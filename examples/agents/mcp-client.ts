// Calls a tool of an MCP server, which asks for the user's consent by URL elicitation.
//   MCP_URL=http://localhost:8000/mcp node examples/agents/mcp-client.ts who_am_i
import { onElicitation } from '@gatepass/sdk/mcp-client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const [name = 'who_am_i'] = process.argv.slice(2)
const client = new Client(
  { name: 'example', version: '1.0.0' },
  { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: 'auto' } },
)
client.setRequestHandler(
  'elicitation/create',
  onElicitation(({ url, message }) => console.log(`${message} Please approve: ${url}`)),
)
await client.connect(
  new StreamableHTTPClientTransport(new URL(process.env.MCP_URL ?? 'http://localhost:8000/mcp')),
)

const { content } = await client.callTool({ name, arguments: {} }) // waits for the consent
for (const block of content) if (block.type === 'text') console.log(block.text)
await client.close()
