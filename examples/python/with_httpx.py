"""Runs a tool over HTTP with httpx: prints the link, waits for the consent, goes on.

pip install httpx
GATEPASS_URL=http://localhost:8400 GATEPASS_API_KEY=... python3 examples/python/with_httpx.py ada Sandbox_Profile
"""
import os
import sys

import httpx

user, tool = sys.argv[1:]
headers = {"Authorization": f"Bearer {os.environ['GATEPASS_API_KEY']}"}

with httpx.Client(base_url=os.environ["GATEPASS_URL"], headers=headers, timeout=90) as gatepass:

    def run():
        answer = gatepass.post("/v1/tools/execute", json={"tool_name": tool, "user_id": user, "input": {}})
        answer.raise_for_status()
        return answer.json().get("output", {})

    output = run()
    while needed := output.get("requires_authorization"):
        print("Please approve:", needed["url"], flush=True)
        status = "pending"
        while status == "pending":  # Gatepass holds each answer until the status changes, for 45 seconds at most
            answer = gatepass.get("/v1/auth/status", params={"id": needed["id"], "wait": 45})
            answer.raise_for_status()
            status = answer.json()["status"]
        if status == "failed":
            raise SystemExit("The user did not approve.")
        output = run()
    print(output.get("error", {}).get("message") or output.get("value"))
