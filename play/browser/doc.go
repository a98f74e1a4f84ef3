//go:build !js

package main

import "log"

func main() { log.Fatal("this is for browsers: GOOS=js GOARCH=wasm; redlocksim play builds it") }
