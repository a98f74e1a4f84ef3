package kernel

import "runtime/debug"

// A kernel runs code on the goroutine that calls Run and on those of its coroutines. Each of them is marked, so that code which
// is handed to others can tell whether it is called on one. A mark is the goroutine's own and is not handed down to those that
// it starts. The runtime has one such mark that costs next to nothing to look at: whether a fault at an address that is not nil
// panics or ends the program. So such a fault in simulated code is a panic of its process, and code that sets this itself
// unmarks its goroutine.

// Enter marks the calling goroutine as one of a kernel's until leave is called, for what belongs to a run and comes before Run.
func Enter() (leave func()) {
	was := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(was) }
}

// Entered says whether the calling goroutine is one of a kernel's.
func Entered() bool {
	is := debug.SetPanicOnFault(true)
	if !is {
		debug.SetPanicOnFault(false)
	}
	return is
}
