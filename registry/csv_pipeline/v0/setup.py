import base64
import os

os.mkdir("data")
for path, text in PARAMS.items():
    with open(path, "wb") as file:
        file.write(base64.b64decode(text))
print("\n".join(sorted(PARAMS)))
