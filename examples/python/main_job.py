# Gatepass's own client: src/sdk/python/gatepass.py, the standard library alone.
from gatepass import Gatepass

gatepass = Gatepass()  # GATEPASS_URL, GATEPASS_API_KEY
show = lambda link: print("Please approve:", link["url"], flush=True)
profile = gatepass.run("Sandbox_Profile", {"greeting": "Good morning"}, user="ada", consent=show)
print(profile)
