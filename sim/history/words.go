package history

// The words of the vocabulary, in the order of their declaration, which the hash encodes.
var (
	kinds    = [...]Kind{Call, Return, Step, Expire, Crash, Effect, Fault}
	funcs    = [...]Func{Acquire, Extend, Release, Read, Write, Mark}
	outcomes = [...]Outcome{OK, Failed, Unknown}
)

// place is where a word stands among words, from 1; 0 if it is none of them.
func place[W ~string](words []W, w W) byte {
	for i := range words {
		if words[i] == w {
			return byte(i + 1)
		}
	}
	return 0
}
