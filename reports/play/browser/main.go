//go:build js

// Command browser is the engine of the playground, for the worker of its page: GOOS=js GOARCH=wasm. It gives the worker a
// function redlocksim, from a request to an answer, both JSON, and then calls ready.
package main

import (
	"context"
	"syscall/js"

	"redlocksim/reports/play/engine"
)

func main() {
	js.Global().Set("redlocksim", js.FuncOf(func(_ js.Value, arguments []js.Value) any {
		return string(engine.Answer(context.Background(), []byte(arguments[0].String())))
	}))
	js.Global().Call("ready")
	select {}
}
