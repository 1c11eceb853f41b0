import base64
import os

os.mkdir("data")
for path, text in PARAMS.items():
    with open(path, "wb") as file:
        file.write(base64.b64decode(text))
with open("data/FORMS.txt", encoding="utf-8") as file:
    print("\n".join([*sorted(PARAMS), "", file.read()]), end="")
