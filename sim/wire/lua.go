package wire

import (
	"regexp"

	lua "github.com/yuin/gopher-lua"
)

// miniredis makes a Lua state for every script that runs, and leaves its sizes at those of the library: 100 KB, half of
// what a run allocates. The scripts of a lock call a handful of functions with a key each.
func init() {
	lua.RegistrySize = 1024
	lua.CallStackSize = 64
}

// raised is the reply to a script that ended with the error of a command it called: the command's error, between words of
// miniredis' own, the line of the script and the calls that led there.
var raised = regexp.MustCompile(`^-ERR Error compiling script \(new function\): \S*:\d+: ([A-Z]+ .*?) stack traceback:`)

// uncovered gives the error of a command that ended a script as redis-server does, beginning with its code.
func uncovered(reply []byte) []byte {
	if e := raised.FindSubmatch(reply); e != nil {
		return append(append([]byte{'-'}, e[1]...), "\r\n"...)
	}
	return reply
}
