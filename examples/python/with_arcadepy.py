"""Runs a tool with Arcade's client, unchanged: only its base URL and its key are Gatepass's.

pip install arcadepy
GATEPASS_URL=http://localhost:8400 GATEPASS_API_KEY=... python3 examples/python/with_arcadepy.py ada Sandbox_Profile
"""
import os
import sys

from arcadepy import Arcade

user, tool = sys.argv[1:]
arcade = Arcade(base_url=os.environ["GATEPASS_URL"], api_key=os.environ["GATEPASS_API_KEY"])

authorization = arcade.tools.authorize(tool_name=tool, user_id=user)
if authorization.status != "completed":
    print("Please approve:", authorization.url, flush=True)
while authorization.status == "pending":  # wait_for_completion of arcadepy goes on asking after a failure
    authorization = arcade.auth.status(id=authorization.id, wait=45)
if authorization.status != "completed":
    raise SystemExit("The user did not approve.")

result = arcade.tools.execute(tool_name=tool, user_id=user, input={})
print(result.output.value if result.success else result.output.error.message)
