#!/bin/bash
# Starts the service in the foreground. SIGTERM and SIGINT end it in order.
cd "$(dirname "$0")" || exit 1
exec python3 -B -c '
import runpy, signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
sys.path.pop(0)
runpy.run_path("service.py", run_name="__main__")
'
