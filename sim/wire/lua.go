package wire

import lua "github.com/yuin/gopher-lua"

// miniredis makes a Lua state for every script that runs, and leaves its sizes at those of the library: 100 KB, half of
// what a run allocates. The scripts of a lock call a handful of functions with a key each.
func init() {
	lua.RegistrySize = 1024
	lua.CallStackSize = 64
}
