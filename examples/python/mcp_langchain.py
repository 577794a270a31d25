"""An agent of LangChain that gets its tools over MCP. A missing consent is the answer of the tool, with the link.

pip install langchain langchain-openai langchain-mcp-adapters
GATEPASS_URL=http://localhost:8400 GATEPASS_API_KEY=... OPENAI_API_KEY=... \\
  python3 examples/python/mcp_langchain.py ada "Who am I?"
"""
import asyncio
import os
import sys

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient

user, question = sys.argv[1:]
gatepass = {
    "transport": "streamable_http",
    "url": f"{os.environ['GATEPASS_URL']}/mcp",
    "headers": {"Authorization": f"Bearer {os.environ['GATEPASS_API_KEY']}", "X-Gatepass-User": user},
}


async def main():
    tools = await MultiServerMCPClient({"gatepass": gatepass}).get_tools()
    agent = create_agent(os.environ.get("MODEL", "openai:gpt-5-mini"), tools)
    answer = await agent.ainvoke({"messages": [{"role": "user", "content": question}]})
    print(answer["messages"][-1].text)


asyncio.run(main())
