package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/upstash/qstash-go"
)

// verify checks a delivery with the client's receiver: reads {"current", "next", "signature", "body", "url"} from standard input.
func verify() {
	var given struct{ Current, Next, Signature, Body, Url string }
	err := json.NewDecoder(os.Stdin).Decode(&given)
	if err == nil {
		err = qstash.NewReceiver(given.Current, given.Next).Verify(qstash.VerifyOptions{
			Signature: given.Signature, Body: given.Body, Url: given.Url,
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
