"""An agent of the OpenAI Agents SDK that gets its tools over MCP. A missing consent is the answer of the tool, with the link.

pip install openai-agents
GATEPASS_URL=http://localhost:8400 GATEPASS_API_KEY=... OPENAI_API_KEY=... \\
  python3 examples/python/mcp_openai_agents.py ada "Who am I?"
"""
import asyncio
import os
import sys

from agents import Agent, Runner
from agents.mcp import MCPServerStreamableHttp

user, question = sys.argv[1:]
params = {
    "url": f"{os.environ['GATEPASS_URL']}/mcp",
    "headers": {"Authorization": f"Bearer {os.environ['GATEPASS_API_KEY']}", "X-Gatepass-User": user},
    "timeout": 90,  # a repeated call is held while its user approves
}


async def main():
    async with MCPServerStreamableHttp(params, client_session_timeout_seconds=90) as gatepass:
        agent = Agent(name="Assistant", instructions="Show every link to the user.", mcp_servers=[gatepass])
        answer = await Runner.run(agent, question)
        print(answer.final_output)


asyncio.run(main())
