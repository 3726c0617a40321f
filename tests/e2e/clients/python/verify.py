"""Lets the client's receiver verify a delivery: reads {"current", "next", "signature", "body", "url"} from standard input."""

import json
import sys

from qstash import Receiver

given = json.load(sys.stdin)
Receiver(given["current"], given["next"]).verify(signature=given["signature"], body=given["body"], url=given["url"])
