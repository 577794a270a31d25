"""Runs a tool for a user with Python's standard library alone: prints the link, waits for the consent, goes on.

GATEPASS_URL=http://localhost:8400 GATEPASS_API_KEY=... python3 examples/agents/run_tool.py ada Sandbox_Profile
"""
import json
import os
import sys
import urllib.error
import urllib.request

URL = os.environ.get("GATEPASS_URL", "http://localhost:8400")
HEADERS = {"Authorization": f"Bearer {os.environ['GATEPASS_API_KEY']}", "Content-Type": "application/json"}


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(URL + path, data, HEADERS), timeout=90) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refusal:  # the body says why, and what to do
        raise SystemExit(f"{refusal.code}: {refusal.read().decode()}") from None


def execute(user, tool, inputs):
    return call("/v1/tools/execute", {"tool_name": tool, "user_id": user, "input": inputs})["output"]


user, tool = (sys.argv[1:] + ["ada", "Sandbox_Profile"][len(sys.argv) - 1 :])[:2]
output = execute(user, tool, {})
while needed := output.get("requires_authorization"):
    print(f"Please approve: {needed['url']}", flush=True)
    status = "pending"
    while status == "pending":  # Gatepass holds each answer until the status changes, for 45 seconds at most
        status = call(f"/v1/auth/status?id={needed['id']}&wait=45")["status"]
    if status == "failed":
        raise SystemExit("The user did not approve.")
    output = execute(user, tool, {})
if "error" in output:
    raise SystemExit(output["error"]["message"])
print(json.dumps(output.get("value"), separators=(",", ":")))
